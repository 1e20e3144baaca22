/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel module for the virtual machine: lets PCI Express links of emulated devices, which QEMU
 * has all at 2.5 GT/s x1, show chosen speeds and widths to every reader of config space, the kernel
 * itself included. Changes nothing but what reads return.
 *
 *     echo '0000:01:00.0 4 4 3 2' > /sys/module/vmlink/parameters/set
 *
 * Supported speed, maximum width, current speed and width; speeds as in the registers: 1 is
 * 2.5 GT/s, 2 is 5, 3 is 8, 4 is 16. A maximum of 0 leaves the function as it is. */

#include <linux/module.h>
#include <linux/pci.h>

#define FUNCTIONS_MAX 32
#define BYTES_MAX     10

/* What reads of one function see in place of some of its bits. */
struct mask {
        int domain;
        unsigned bus, devfn, n;
        struct {
                int at;
                u8 bits, value;
        } bytes[BYTES_MAX];
};

static struct mask masks[FUNCTIONS_MAX];
static DEFINE_RAW_SPINLOCK(lock);
static struct pci_ops *below, ours;

static int masked_read(struct pci_bus *bus, unsigned devfn, int where, int size, u32 *value)
{
        int r = below->read(bus, devfn, where, size, value);
        unsigned long flags;

        if (r)
                return r;
        raw_spin_lock_irqsave(&lock, flags);
        for (struct mask *m = masks; m < masks + FUNCTIONS_MAX; m++) {
                if (!m->n || m->domain != pci_domain_nr(bus) || m->bus != bus->number ||
                    m->devfn != devfn)
                        continue;
                for (unsigned i = 0; i < m->n; i++) {
                        int shift = 8 * (m->bytes[i].at - where);

                        if (shift < 0 || shift >= 8 * size)
                                continue;
                        *value &= ~((u32)m->bytes[i].bits << shift);
                        *value |= (u32)m->bytes[i].value << shift;
                }
        }
        raw_spin_unlock_irqrestore(&lock, flags);
        return 0;
}

/* All buses have the same operations, and new ones take them from the bus above. */
static void exchange(struct pci_ops *from, struct pci_ops *to)
{
        struct pci_dev *device = NULL;

        pci_lock_rescan_remove();
        for_each_pci_dev(device)
        {
                if (device->bus->ops == from)
                        device->bus->ops = to;
                if (device->subordinate && device->subordinate->ops == from)
                        device->subordinate->ops = to;
        }
        pci_unlock_rescan_remove();
}

static void add(struct mask *m, int at, u32 bits, u32 value)
{
        for (; bits; at++, bits >>= 8, value >>= 8) {
                if (!(bits & 0xff) || m->n == BYTES_MAX)
                        continue;
                m->bytes[m->n].at = at;
                m->bytes[m->n].bits = (u8)bits;
                m->bytes[m->n++].value = (u8)(value & bits);
        }
}

static int set(const char *text, const struct kernel_param *parameter)
{
        unsigned domain, bus, slot, function, max, max_width, now, now_width;
        struct mask m = {0}, *place = NULL;
        struct pci_dev *device;
        unsigned long flags;
        int capability;

        if (!below || sscanf(text, "%x:%x:%x.%x %u %u %u %u", &domain, &bus, &slot, &function, &max,
                             &max_width, &now, &now_width) != 8)
                return -EINVAL;
        device = pci_get_domain_bus_and_slot((int)domain, bus, PCI_DEVFN(slot, function));
        if (!device)
                return -ENODEV;
        capability = pci_pcie_cap(device);
#ifdef SUPPORTED_SPEEDS
        /* Newer kernels read them once. */
        if (capability && max && max <= 6)
                device->supported_speeds = (u8)(((1U << max) - 1) << 1);
#endif
        pci_dev_put(device);
        if (!capability || max > 6 || now > max || max_width > 32)
                return -EINVAL;
        m.domain = (int)domain;
        m.bus = bus;
        m.devfn = PCI_DEVFN(slot, function);
        if (max) {
                add(&m, capability + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS | PCI_EXP_LNKCAP_MLW,
                    max | max_width << 4);
                add(&m, capability + PCI_EXP_LNKCAP2, 0xfe, ((1U << max) - 1) << 1);
                add(&m, capability + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS | PCI_EXP_LNKSTA_NLW,
                    now | now_width << 4);
        }
        raw_spin_lock_irqsave(&lock, flags);
        for (struct mask *i = masks; i < masks + FUNCTIONS_MAX; i++)
                if (i->n && i->domain == m.domain && i->bus == m.bus && i->devfn == m.devfn) {
                        place = i;
                        break;
                } else if (!i->n && !place)
                        place = i;
        if (place)
                *place = m;
        raw_spin_unlock_irqrestore(&lock, flags);
        return place ? 0 : -ENOSPC;
}

static const struct kernel_param_ops set_ops = {.set = set};
module_param_cb(set, &set_ops, NULL, 0200);

static int __init start(void)
{
        struct pci_bus *bus = pci_find_next_bus(NULL);

        if (!bus)
                return -ENODEV;
        below = bus->ops;
        ours = *below;
        ours.read = masked_read;
        exchange(below, &ours);
        return 0;
}

static void __exit stop(void)
{
        exchange(&ours, below);
}

module_init(start);
module_exit(stop);
/* The LGPL lets a copy be under the GPL, which the kernel asks for. */
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("chosen speeds and widths for emulated PCI Express links");
