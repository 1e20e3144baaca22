/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel module for the virtual machine: network ports with modules in them, which no emulated
 * card has. The kernel's own ethtool answers with bytes that were chosen, in each of the ways that
 * drivers have. Knows no map of those bytes.
 *
 *     cd /sys/module/vmport/parameters
 *     echo '0 50 0 03040722…' > bytes   port, two-wire address, offset, bytes: all of it
 * hexadecimal echo '0 1' > plug                 the interface vmport0 appears, with a link; 0: it
 * goes echo '0 5 2' > fail               after 2 more transfers all fail with this errno; 0: none
 * does echo '0 1' > way                  0: the driver reads by page. 1: as older ones, all of the
 * memory in one piece. 2: as those, and what reads by page is refused echo '0 239' > connector what
 * ethtool calls it: 3 fibre, 239 none cat transfers                     of each port: by page, in
 * one piece, bytes
 *
 * Offsets of 128 and more are page after page, as far as there are any. */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/rtnetlink.h>

#define PORTS     2
#define SIZE      640
#define SIZE_A2   256
#define BYTES_MAX 128

enum { BY_PAGE, BY_PIECE, BY_PIECE_ALONE };

static struct port {
        struct net_device *device; /* NULL: it is not there */
        struct platform_device *parent;
        u8 a0[SIZE], a2[SIZE_A2];
        unsigned way, connector, error, before_error;
        unsigned by_page, in_piece, n_bytes;
} ports[PORTS];

/* Of all above, beside the lock that the network's core holds when it asks. */
static DEFINE_MUTEX(lock);

static struct port *port_of(struct net_device *device)
{
        return *(struct port **)netdev_priv(device);
}

/* ---- What the network's core asks a driver ---- */

/* 0, or how this transfer fails. */
static int transfer(struct port *port, unsigned n)
{
        if (port->error) {
                if (!port->before_error)
                        return -(int)port->error;
                port->before_error--;
        }
        port->n_bytes += n;
        return 0;
}

static int read_page(struct net_device *device, const struct ethtool_module_eeprom *wanted,
                     struct netlink_ext_ack *ack)
{
        struct port *port = port_of(device);
        const u8 *memory = wanted->i2c_address == 0x51 ? port->a2 : port->a0;
        unsigned size = wanted->i2c_address == 0x51 ? SIZE_A2 : SIZE, at = wanted->offset;
        int r;

        if (port->way == BY_PIECE)
                return -EOPNOTSUPP;
        if (port->way == BY_PIECE_ALONE)
                return -EINVAL;
        if (at >= 128)
                at += wanted->page * 128U;
        if (at + wanted->length > size)
                return -EINVAL;
        mutex_lock(&lock);
        port->by_page++;
        r = transfer(port, wanted->length);
        if (!r)
                memcpy(wanted->data, memory + at, wanted->length);
        mutex_unlock(&lock);
        return r ? r : (int)wanted->length;
}

/* By its first byte: SFF-8024 has 0Dh and 11h for what SFF-8636 describes. */
static bool is_quad(const struct port *port)
{
        return port->a0[0] == 0x0d || port->a0[0] == 0x11;
}

static int read_info(struct net_device *device, struct ethtool_modinfo *info)
{
        struct port *port = port_of(device);
        int r;

        mutex_lock(&lock);
        r = transfer(port, 0);
        info->type = is_quad(port) ? ETH_MODULE_SFF_8636 : ETH_MODULE_SFF_8472;
        info->eeprom_len = is_quad(port) ? ETH_MODULE_SFF_8636_MAX_LEN : ETH_MODULE_SFF_8472_LEN;
        mutex_unlock(&lock);
        return r;
}

static int read_piece(struct net_device *device, struct ethtool_eeprom *wanted, u8 *data)
{
        struct port *port = port_of(device);
        int r;

        mutex_lock(&lock);
        port->in_piece++;
        r = transfer(port, wanted->len);
        for (u32 i = 0, at = wanted->offset; !r && i < wanted->len; i++, at++) {
                if (is_quad(port) || at < 256)
                        data[i] = at < SIZE ? port->a0[at] : 0;
                else
                        data[i] = at - 256 < SIZE_A2 ? port->a2[at - 256] : 0;
        }
        mutex_unlock(&lock);
        return r;
}

static int read_link(struct net_device *device, struct ethtool_link_ksettings *link)
{
        struct port *port = port_of(device);
        bool quad = is_quad(port);

        ethtool_link_ksettings_zero_link_mode(link, supported);
        ethtool_link_ksettings_add_link_mode(link, supported, FIBRE);
        if (quad)
                ethtool_link_ksettings_add_link_mode(link, supported, 40000baseSR4_Full);
        else
                ethtool_link_ksettings_add_link_mode(link, supported, 10000baseSR_Full);
        bitmap_copy(link->link_modes.advertising, link->link_modes.supported,
                    __ETHTOOL_LINK_MODE_MASK_NBITS);
        link->base.speed = quad ? SPEED_40000 : SPEED_10000;
        link->base.duplex = DUPLEX_FULL;
        link->base.port = (u8)port->connector;
        return 0;
}

static const struct ethtool_ops ethtool_ops = {
    .get_link = ethtool_op_get_link,
    .get_link_ksettings = read_link,
    .get_module_info = read_info,
    .get_module_eeprom = read_piece,
    .get_module_eeprom_by_page = read_page,
};

static netdev_tx_t drop(struct sk_buff *packet, struct net_device *device)
{
        dev_kfree_skb(packet);
        return NETDEV_TX_OK;
}

static const struct net_device_ops device_ops = {.ndo_start_xmit = drop};

/* ---- Coming and going ---- */

static int plug_in(unsigned i)
{
        struct port *port = &ports[i];
        struct net_device *device;
        int r;

        if (port->device)
                return -EEXIST;
        /* With a parent it is no virtual interface. */
        port->parent = platform_device_register_simple("vmport", (int)i, NULL, 0);
        if (IS_ERR(port->parent))
                return PTR_ERR(port->parent);
        device = alloc_etherdev(sizeof(struct port *));
        r = device ? 0 : -ENOMEM;
        if (!r) {
                *(struct port **)netdev_priv(device) = port;
                snprintf(device->name, sizeof device->name, "vmport%u", i);
                device->netdev_ops = &device_ops;
                device->ethtool_ops = &ethtool_ops;
                eth_hw_addr_set(device, (const u8[]){0x52, 0x54, 0, 0, 2, (u8)i});
                SET_NETDEV_DEV(device, &port->parent->dev);
                r = register_netdev(device);
                if (r)
                        free_netdev(device);
        }
        if (r) {
                platform_device_unregister(port->parent);
                return r;
        }
        port->device = device;
        return 0;
}

static void unplug(struct port *port)
{
        if (!port->device)
                return;
        unregister_netdev(port->device);
        free_netdev(port->device);
        platform_device_unregister(port->parent);
        port->device = NULL;
}

/* ---- Parameters ---- */

static int set_bytes(const char *text, const struct kernel_param *parameter)
{
        unsigned i, address, at, size;
        u8 bytes[BYTES_MAX];
        size_t n;
        int start;

        if (sscanf(text, "%x %x %x %n", &i, &address, &at, &start) != 3 || i >= PORTS ||
            (address != 0x50 && address != 0x51))
                return -EINVAL;
        text += start;
        n = strcspn(text, "\n") / 2;
        size = address == 0x51 ? SIZE_A2 : SIZE;
        if (n > BYTES_MAX || at > size || size - at < n || hex2bin(bytes, text, n))
                return -EINVAL;
        mutex_lock(&lock);
        memcpy((address == 0x51 ? ports[i].a2 : ports[i].a0) + at, bytes, n);
        mutex_unlock(&lock);
        return 0;
}

static int set_plug(const char *text, const struct kernel_param *parameter)
{
        unsigned i, in;

        if (sscanf(text, "%u %u", &i, &in) != 2 || i >= PORTS)
                return -EINVAL;
        if (in)
                return plug_in(i);
        unplug(&ports[i]);
        return 0;
}

static int set_fail(const char *text, const struct kernel_param *parameter)
{
        unsigned i, error, before = 0;

        if (sscanf(text, "%u %u %u", &i, &error, &before) < 2 || i >= PORTS || error >= MAX_ERRNO)
                return -EINVAL;
        mutex_lock(&lock);
        ports[i].error = error;
        ports[i].before_error = before;
        mutex_unlock(&lock);
        return 0;
}

static int set_way(const char *text, const struct kernel_param *parameter)
{
        unsigned i, way;

        if (sscanf(text, "%u %u", &i, &way) != 2 || i >= PORTS || way > BY_PIECE_ALONE)
                return -EINVAL;
        ports[i].way = way;
        return 0;
}

static int set_connector(const char *text, const struct kernel_param *parameter)
{
        unsigned i, connector;

        if (sscanf(text, "%u %u", &i, &connector) != 2 || i >= PORTS || connector > 255)
                return -EINVAL;
        ports[i].connector = connector;
        return 0;
}

static int get_transfers(char *text, const struct kernel_param *parameter)
{
        int n = 0;

        mutex_lock(&lock);
        for (struct port *port = ports; port < ports + PORTS; port++)
                n += sprintf(text + n, "%u %u %u\n", port->by_page, port->in_piece, port->n_bytes);
        mutex_unlock(&lock);
        return n;
}

static const struct kernel_param_ops bytes_ops = {.set = set_bytes}, plug_ops = {.set = set_plug},
                                     fail_ops = {.set = set_fail}, way_ops = {.set = set_way},
                                     connector_ops = {.set = set_connector},
                                     transfers_ops = {.get = get_transfers};
module_param_cb(bytes, &bytes_ops, NULL, 0200);
module_param_cb(plug, &plug_ops, NULL, 0200);
module_param_cb(fail, &fail_ops, NULL, 0200);
module_param_cb(way, &way_ops, NULL, 0200);
module_param_cb(connector, &connector_ops, NULL, 0200);
module_param_cb(transfers, &transfers_ops, NULL, 0400);

static int __init start(void)
{
        for (struct port *port = ports; port < ports + PORTS; port++)
                port->connector = PORT_FIBRE;
        return 0;
}

static void __exit stop(void)
{
        for (struct port *port = ports; port < ports + PORTS; port++)
                unplug(port);
}

module_init(start);
module_exit(stop);
/* The LGPL lets a copy be under the GPL, which the kernel asks for. */
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("network ports with chosen modules");
