# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a Machine as the files that a kernel, udev and a distribution would show. What there is,
machine.py decides; how each file is spelled, this module does."""

import nvme_data
import smbios
from config_space import config_space
from machine import CORRECTABLE, GENERATIONS, SECTOR, UNCORRECTABLE, hash_text, hex4

OLD_GENERATIONS = {1: "2.5", 2: "5", 3: "8", 4: "16", 5: "32"}


def write(machine):
    for part in (write_skeleton, write_functions, write_slots, write_nvme, write_blocks,
                 write_nets, write_chips, write_dmi, write_cpus, write_proc, write_etc,
                 write_dev_nodes, write_scripts):
        part(machine)


def write_skeleton(machine):
    """The folders that every kernel has; a class without devices is not among them."""
    folders = ["/sys/block", "/sys/class/block", "/sys/class/net", "/sys/dev/block",
               "/sys/dev/char", "/sys/devices/virtual", "/sys/firmware", "/sys/module", "/dev",
               "/run/udev/data", "/run/udev/tags"]
    if machine.functions:
        folders += ["/sys/bus/pci/devices", "/sys/bus/pci/drivers", "/sys/bus/pci/slots"]
    for path in folders:
        machine.files.folder(path)
    machine.files.write("/run/udev/control", b"")


def into_class(files, path, name):
    """The links between a device and its class."""
    files.link(f"{path}/subsystem", f"/sys/class/{name}")
    files.link(f"/sys/class/{name}/{path.rsplit('/', 1)[1]}", path)


def uevent(**pairs):
    return "".join(f"{key}={value}\n" for key, value in pairs.items() if value is not None).encode()


# ---- PCI ----

def speed_text(machine, gen):
    old = machine.kernel_version < (5, 7)
    if gen not in GENERATIONS:
        return "Unknown speed" if old else "Unknown"
    return f"{OLD_GENERATIONS[gen]} GT/s" if old else f"{GENERATIONS[gen]} GT/s PCIe"


def link_attributes(function):
    """The four link files, as the kernel derives them from the registers."""
    machine = function.machine
    if function.unreachable():
        # From 6.13 on the maximum speed is remembered; the rest is read, as all ones.
        known = function.gen if machine.kernel_version >= (6, 13) else 0
        gen, width, max_gen, max_width = 0, 63, known, 63
    else:
        gen, width = function.link()
        max_gen, max_width = function.gen, function.width
        if function.kind == "integrated":
            gen, width, max_gen, max_width = 0, 0, 0, 255
    return {"current_link_speed": speed_text(machine, gen), "current_link_width": width,
            "max_link_speed": speed_text(machine, max_gen), "max_link_width": max_width}


def aer_attributes(function):
    counts = function.aer
    attributes = {}
    for name, words, total in (("correctable", CORRECTABLE, "COR"),
                               ("fatal", UNCORRECTABLE, "FATAL"),
                               ("nonfatal", UNCORRECTABLE, "NONFATAL")):
        number = {word: counts.get(name, {}).get(word, 0) for word in words}
        lines = [f"{word} {n}" for word, n in number.items()]
        lines.append(f"TOTAL_ERR_{total} {sum(number.values())}")
        attributes[f"aer_dev_{name}"] = "\n".join(lines)
        if function.kind == "root_port":
            attributes[f"aer_rootport_total_err_{total.lower()}"] = sum(number.values())
    return attributes


def power_attributes(function):
    if function.machine.lean:
        return {"power/runtime_status": function.runtime_status}
    return {"power/runtime_status": function.runtime_status,
            "power/control": "auto" if function.runtime_status == "suspended" else "on",
            "power/runtime_suspended_time": 0, "power/runtime_active_time": 1000,
            "power/runtime_usage": 0 if function.runtime_status == "suspended" else 1,
            "power/wakeup": "disabled"}


def resource_text(function):
    lines = 17 if function.total_vfs or function.is_port else 13
    first = 0x00000000FC000000 + (hash_text(function.address) % 0x1000 << 12)
    rows = ["0x0000000000000000 0x0000000000000000 0x0000000000000000"] * lines
    if not function.is_port:
        rows[0] = f"0x{first:016x} 0x{first + 0x3FFF:016x} 0x0000000000140204"
    return "\n".join(rows)


def function_attributes(function):
    machine, f = function.machine, function
    vendor, device = f.vendor, f.device
    attributes = {
        "vendor": hex4(vendor), "device": hex4(device), "class": f"0x{f.cls:06x}",
        "subsystem_vendor": hex4(f.subsystem_vendor), "subsystem_device": hex4(f.subsystem_device),
        "revision": f"0x{f.revision:02x}", "numa_node": f.numa_node,
        "enable": 0 if f.driver == "vfio-pci" else 1,
        "resource": resource_text(f),
        "modalias": f"pci:v{vendor:08X}d{device:08X}sv{f.subsystem_vendor:08X}"
                    f"sd{f.subsystem_device:08X}bc{f.cls >> 16:02X}sc{f.cls >> 8 & 255:02X}"
                    f"i{f.cls & 255:02X}",
        "uevent": uevent(DRIVER=f.driver, PCI_CLASS=f"{f.cls:X}",
                         PCI_ID=f"{vendor:04X}:{device:04X}",
                         PCI_SUBSYS_ID=f"{f.subsystem_vendor:04X}:{f.subsystem_device:04X}",
                         PCI_SLOT_NAME=f.address, MODALIAS=None),
    }
    if machine.kernel_version >= (5, 11):
        attributes["power_state"] = f.power_state
    if f.removable and machine.kernel_version >= (5, 14):
        attributes["removable"] = "removable"
    if f.express:
        attributes.update(link_attributes(f))
    if f.express and f.physical is None:
        attributes.update(aer_attributes(f))
    if f.secondary is not None:
        attributes.update({"secondary_bus_number": f.secondary,
                           "subordinate_bus_number": f.subordinate()})
    if f.total_vfs:
        attributes.update({"sriov_totalvfs": f.total_vfs, "sriov_numvfs": len(f.vfs),
                           "sriov_offset": 16, "sriov_stride": 1, "sriov_drivers_autoprobe": 1,
                           "sriov_vf_device": f"{f.vfs[0].device:x}" if f.vfs else "0"})
    attributes.update(power_attributes(f))
    if not machine.lean:
        attributes.update({
            "irq": 24, "local_cpulist": f"0-{machine.cpu_facts['threads'] - 1}",
            "local_cpus": f"{(1 << machine.cpu_facts['threads']) - 1:x}", "ari_enabled": 0,
            "broken_parity_status": 0, "d3cold_allowed": 1, "msi_bus": 1, "dma_mask_bits": 64,
            "consistent_dma_mask_bits": 64, "driver_override": "(null)"})
        if f.express and machine.kernel_version >= (5, 5):
            attributes.update({"link/clkpm": 0, "link/l1_aspm": 0})
    attributes.update(f.extra)
    return attributes


def write_function(machine, function):
    files, path = machine.files, function.path
    files.write_all(path, function_attributes(function))
    size = 64 if machine.short_config else 4096 if function.express else 256
    files.write(f"{path}/config", config_space(function, size), 0o644)
    if not machine.lean:
        files.write(f"{path}/remove", b"", 0o220)
        files.write(f"{path}/rescan", b"", 0o200)
    files.link(f"{path}/subsystem", "/sys/bus/pci")
    files.link(f"/sys/bus/pci/devices/{function.address}", path)
    if not machine.lean:
        files.link(f"{path}/iommu_group", f"/sys/kernel/iommu_groups/{function.group}")
    if function.driver:
        driver = f"/sys/bus/pci/drivers/{function.driver}"
        files.link(f"{path}/driver", driver)
        files.link(f"{driver}/{function.address}", path)
        files.folder(f"/sys/module/{function.driver.replace('-', '_')}")
    if function.physical:
        files.link(f"{path}/physfn", function.physical.path)
    for i, vf in enumerate(function.vfs):
        files.link(f"{path}/virtfn{i}", vf.path)


def write_functions(machine):
    for function in machine.functions:
        write_function(machine, function)


def write_slots(machine):
    """/sys/bus/pci/slots: what the hot-plug drivers made of the ports' slot numbers."""
    for port in machine.functions:
        if not isinstance(port.slot, (int, str)) or isinstance(port.slot, bool):
            continue
        gen = port.link()[0]
        machine.files.write_all(f"/sys/bus/pci/slots/{port.slot}", {
            "address": f"{port.bus_below()}:00",
            "cur_bus_speed": speed_text(machine, gen),
            "max_bus_speed": speed_text(machine, port.gen)})


# ---- NVMe ----

def field(content, length):
    """A string as the driver shows it: the field's full length, padded with spaces, to a NUL."""
    data = content if isinstance(content, bytes) else content.encode()
    data = data[:length].ljust(length, b" ")
    return data.split(b"\0", 1)[0] + b"\n"


def write_nvme(machine):
    if machine.controllers:
        machine.files.write("/sys/module/nvme_core/parameters/admin_timeout", "60", 0o644)
    for subsystem in machine.subsystems:
        write_subsystem(machine, subsystem)
    for controller in machine.controllers:
        write_controller(machine, controller)


def write_subsystem(machine, subsystem):
    files, first = machine.files, subsystem.first
    files.write_all(subsystem.path, {
        "model": field(first.model, 40), "serial": field(first.serial, 20),
        "firmware_rev": field(first.firmware, 8), "subsysnqn": subsystem.nqn, "iopolicy": "numa",
        "subsystype": "nvm" if machine.kernel_version >= (5, 16) else None, "uevent": b""})
    into_class(files, subsystem.path, "nvme-subsystem")
    for controller in subsystem.controllers:
        files.link(f"{subsystem.path}/{controller.name}", controller.path)


def write_controller(machine, controller):
    files, path = machine.files, controller.path
    queues = machine.cpu_facts["threads"] + 1
    attributes = {
        "model": field(controller.model, 40), "serial": field(controller.serial, 20),
        "firmware_rev": field(controller.firmware, 8), "subsysnqn": controller.subsystem.nqn,
        "cntlid": controller.controller_id, "state": controller.state,
        "transport": controller.transport, "address": controller.address,
        "numa_node": controller.function.numa_node if controller.function else -1,
        "queue_count": queues, "sqsize": 1023, "dev": f"241:{controller.index}",
        "uevent": uevent(MAJOR=241, MINOR=controller.index, DEVNAME=controller.name,
                         NVME_TRTYPE=controller.transport),
        "cntrltype": "io" if machine.kernel_version >= (5, 17) else None,
        "dctype": "none" if machine.kernel_version >= (5, 18) else None,
        "kato": (0 if controller.function else 5) if machine.kernel_version >= (5, 14) else None,
    }
    files.write_all(path, attributes)
    files.write(f"{path}/reset_controller", b"", 0o200)
    files.write(f"{path}/rescan_controller", b"", 0o200)
    device = controller.function.path if controller.function else (
        "/sys/devices/virtual/nvme-fabrics/ctl")
    files.folder(device)
    files.link(f"{path}/device", device)
    into_class(files, path, "nvme")
    files.link(f"/sys/dev/char/241:{controller.index}", path)
    write_udev(machine, f"c241:{controller.index}", {}, [])
    write_controller_data(machine, controller)


def write_controller_data(machine, controller):
    """The answers to the commands that a health reading may send; nothing else is answered."""
    if not controller.answers or controller.state != "live":
        return
    name, files, script = controller.name, machine.files, machine.script
    function = controller.function
    folder = f"/nvme/{name}"

    def answer(command, file, data, option=""):
        files.write(f"{folder}/{file}", data)
        script.append(f"{name} {command} file:nvme/{name}/{file} {option}".rstrip())

    answer("identify:1", "identify-controller", nvme_data.identify_controller(
        model=controller.model, serial=controller.serial, firmware=controller.firmware,
        vendor=function.vendor if function else 0,
        subsystem_vendor=function.subsystem_vendor if function else 0,
        controller_id=controller.controller_id, namespaces=max(1, len(controller.namespaces)),
        warning_k=controller.warning and controller.warning + 273,
        critical_k=controller.critical and controller.critical + 273))
    for namespace in controller.namespaces or controller.subsystem.namespaces:
        answer("identify:0", f"identify-namespace-{namespace.nsid}", nvme_data.identify_namespace(
            size=namespace.size, block_size=namespace.block_size), f"nsid={namespace.nsid}")
        answer("identify:3", f"namespace-descriptors-{namespace.nsid}",
               nvme_data.namespace_descriptors(hash_text(controller.name)),
               f"nsid={namespace.nsid}")
    answer("log:2", "smart-log", nvme_data.smart_log(**(controller.health or {})))


# ---- block devices ----

def queue_attributes(machine, block):
    attributes = {"logical_block_size": block.logical, "physical_block_size": block.physical,
                  "hw_sector_size": block.logical, "rotational": block.rotational,
                  "minimum_io_size": block.physical, "optimal_io_size": 0}
    if not machine.lean:
        attributes.update({"scheduler": "[none] mq-deadline", "nr_requests": 1023,
                           "max_sectors_kb": 1280, "max_hw_sectors_kb": 2048,
                           "read_ahead_kb": 128, "write_cache": "write back", "zoned": "none",
                           "discard_granularity": block.logical, "nomerges": 0, "iostats": 1,
                           "discard_max_bytes": 0 if block.rotational else 2199023255040})
    return attributes


def write_block(machine, block):
    files, path = machine.files, block.path
    attributes = {"size": block.size // SECTOR, "ro": 0, "stat": "0 " * 16 + "0",
                  "inflight": "       0        0", "alignment_offset": 0}
    if not block.hidden:
        attributes["dev"] = block.dev
    attributes["uevent"] = uevent(
        MAJOR=None if block.hidden else block.number[0],
        MINOR=None if block.hidden else block.number[1],
        DEVNAME=None if block.hidden else block.name, DEVTYPE=block.kind,
        PARTN=block.attributes.get("partition"))
    if block.kind == "disk":
        attributes.update({"removable": block.removable, "hidden": int(block.hidden), "range": 0,
                           "ext_range": 256, "capability": 0,
                           "diskseq": 1 if machine.kernel_version >= (5, 15) else None})
        attributes.update({f"queue/{key}": value
                           for key, value in queue_attributes(machine, block).items()})
    attributes.update(block.attributes)
    files.write_all(path, attributes)
    into_class(files, path, "block")
    if block.kind == "disk":
        files.link(f"/sys/block/{block.name}", path)
        files.folder(f"{path}/slaves")
    files.folder(f"{path}/holders")
    if block.device:
        files.link(f"{path}/device", block.device)
    if not block.hidden:
        files.link(f"/sys/dev/block/{block.dev}", path)
        udev = dict(block.udev)
        if block.parent:
            udev = {key: block.parent.udev[key] for key in (
                "ID_SERIAL", "ID_SERIAL_SHORT", "ID_MODEL", "ID_WWN", "ID_BUS",
                "ID_PART_TABLE_TYPE", "ID_PART_TABLE_UUID") if key in block.parent.udev} | udev
        write_udev(machine, f"b{block.dev}", udev, block_links(block))
    for holder in block.holders:
        files.link(f"{path}/holders/{holder.name}", holder.path)
        files.link(f"{holder.path}/slaves/{block.name}", path)


def block_links(block):
    links = list(block.links)
    if block.parent:
        number = block.attributes["partition"]
        links += [f"{link}-part{number}" for link in block.parent.links]
    if "ID_FS_UUID" in block.udev:
        links.append(f"disk/by-uuid/{block.udev['ID_FS_UUID']}")
    return links


def write_udev(machine, name, properties, links):
    """A record of udev's database."""
    lines = [f"S:{link}" for link in links]
    lines.append("I:4711")
    lines += [f"E:{key}={value}" for key, value in properties.items()]
    lines += ["G:systemd", "Q:systemd", "V:1"]
    machine.files.write(f"/run/udev/data/{name}", "\n".join(lines), 0o644)


def write_blocks(machine):
    for block in machine.blocks:
        write_block(machine, block)
    for uuid, label, members in machine.btrfs_filesystems:
        base = f"/sys/fs/btrfs/{uuid}"
        machine.files.write(f"{base}/label", label)
        for member in members:
            machine.files.link(f"{base}/devices/{member.name}", member.path)


# ---- network, sensors ----

STATISTICS = ("rx_packets tx_packets rx_bytes tx_bytes rx_errors tx_errors rx_dropped tx_dropped "
              "rx_crc_errors rx_fifo_errors rx_frame_errors rx_length_errors rx_missed_errors "
              "rx_over_errors tx_carrier_errors collisions multicast").split()


def net_path(net):
    if net["function"]:
        return f"{net['function'].path}/net/{net['name']}"
    if net["device"]:
        return f"{net['device']}/net/{net['name']}"
    return f"/sys/devices/virtual/net/{net['name']}"


def write_nets(machine):
    machine.files.write_all("/sys/devices/virtual/net/lo", {
        "address": "00:00:00:00:00:00", "ifindex": 1, "iflink": 1, "type": 772, "mtu": 65536,
        "operstate": "unknown", "carrier": 1, "flags": "0x9", "addr_len": 6,
        "uevent": b"INTERFACE=lo\nIFINDEX=1\n"})
    into_class(machine.files, "/sys/devices/virtual/net/lo", "net")
    for net in machine.nets:
        write_net(machine, net)


def write_net(machine, net):
    files, path, up = machine.files, net_path(net), net["state"] == "up"
    index = net["index"] + 1
    files.write_all(path, {
        "address": net["mac"], "addr_assign_type": 0, "addr_len": 6, "ifindex": index,
        "iflink": index, "type": net["kind"], "mtu": net["mtu"],
        "operstate": net["state"], "carrier": int(up), "carrier_changes": 2,
        "speed": (net["speed"] or -1) if up else -1, "duplex": "full" if up else "unknown",
        "flags": "0x1003" if net["enabled"] else "0x1002", "dev_id": "0x0",
        "dev_port": net["function"].function_number if net["function"] else 0,
        "tx_queue_len": 1000, "link_mode": 0, "name_assign_type": 4, "carrier_up_count": 1,
        "carrier_down_count": 1,
        "uevent": uevent(DEVTYPE=net["devtype"], INTERFACE=net["name"], IFINDEX=index)})
    files.write_all(f"{path}/statistics", dict.fromkeys(STATISTICS, 0) | net["errors"])
    into_class(files, path, "net")
    if net["function"]:
        files.link(f"{path}/device", net["function"].path)
    elif net["device"]:
        files.link(f"{path}/device", net["device"])
    if net["master"]:
        files.link(f"{path}/master", net_path(net["master"]))
    if net["bond"]:
        write_bond(machine, net)
    if net["virtual"] == "bridge":
        files.write_all(f"{path}/bridge", {"stp_state": 0, "vlan_filtering": 0})
    if net["vlan"]:
        files.link(f"{path}/lower_{net['vlan'][0]['name']}", net_path(net["vlan"][0]))
    write_udev(machine, f"n{index}", {"ID_NET_DRIVER": net["driver"] or net["virtual"]}, [])


MODES = ("balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb").split()


def write_bond(machine, net):
    """The bonding driver's attributes, its members' and its text in /proc."""
    files, path, bond = machine.files, net_path(net), net["bond"]
    lacp = bond["mode"] == "802.3ad"
    files.write_all(f"{path}/bonding", {
        "mode": f"{bond['mode']} {MODES.index(bond['mode'])}",
        "slaves": " ".join(member["name"] for member in bond["members"]), "miimon": 100,
        "mii_status": "up" if net["state"] == "up" else "down",
        "active_slave": bond["active"] if bond["mode"] == "active-backup" else "",
        "ad_aggregator": bond["aggregator"] if lacp else b"",
        "ad_num_ports": sum(state[1] == bond["aggregator"] for state in bond["states"])
                        if lacp else b""})
    text = [f"Ethernet Channel Bonding Driver: v{machine.kernel}", "",
            f"Bonding Mode: {bond['mode']}", f"MII Status: {net['state']}", ""]
    for member, state in zip(bond["members"], bond["states"]):
        mii, aggregator, actor, partner, mac = state
        word = "up" if mii else "down"
        files.link(f"{path}/lower_{member['name']}", net_path(member))
        attributes = {"state": "active" if mii else "backup", "mii_status": word,
                      "link_failure_count": 0, "perm_hwaddr": member["permanent"], "queue_id": 0}
        text += [f"Slave Interface: {member['name']}", f"MII Status: {word}",
                 f"Speed: {member['speed']} Mbps" if mii else "Speed: Unknown",
                 f"Permanent HW addr: {member['permanent']}"]
        if lacp:
            attributes |= {"ad_aggregator_id": aggregator, "ad_actor_oper_port_state": actor,
                           "ad_partner_oper_port_state": partner}
            text += [f"Aggregator ID: {aggregator}", "details actor lacp pdu:",
                     f"    system mac address: {net['mac']}", f"    port state: {actor}",
                     "details partner lacp pdu:", f"    system mac address: {mac}",
                     f"    port state: {partner}"]
        text.append("")
        files.write_all(f"{net_path(member)}/bonding_slave", attributes)
    files.write(f"/proc/net/bonding/{net['name']}", "\n".join(text))


def write_chips(machine):
    numbered = 0
    for controller in machine.controllers:
        if controller.function and machine.kernel_version >= (5, 5):
            write_chip(machine, numbered, "nvme", nvme_chip(controller), controller.path)
            numbered += 1
    for name, attributes, device in machine.chips:
        parent = device.path if device else f"/sys/devices/platform/{name}.656"
        write_chip(machine, numbered, name, attributes, parent)
        numbered += 1


def nvme_chip(controller):
    """Each of these is a command to the drive on a real kernel."""
    health = controller.health or {}
    celsius = health.get("temperature_c", 40)
    attributes = {"temp1_input": celsius * 1000 + 850, "temp1_label": "Composite",
                  "temp1_alarm": 0}
    if controller.warning:
        attributes.update({"temp1_max": controller.warning * 1000 + 850,
                           "temp1_min": -273150, "temp1_crit": controller.critical * 1000 + 850})
    return attributes


def write_chip(machine, number, name, attributes, parent):
    files = machine.files
    path = f"{parent}/hwmon{number}" if "/nvme/" in parent else f"{parent}/hwmon/hwmon{number}"
    files.write_all(path, {"name": name, "uevent": b"", **attributes})
    files.link(f"{path}/device", parent)
    into_class(files, path, "hwmon")
    if parent.startswith("/sys/devices/platform"):
        files.link(f"{parent}/subsystem", "/sys/bus/platform")
        files.link(f"/sys/bus/platform/devices/{parent.rsplit('/', 1)[1]}", parent)


# ---- the host ----

def write_dmi(machine):
    board = machine.board_facts
    if not board:
        return
    path, files = "/sys/devices/virtual/dmi/id", machine.files
    files.write_all(path, {
        "bios_vendor": board["bios_vendor"], "bios_version": board["bios_version"],
        "bios_date": board["bios_date"], "bios_release": "5.17", "board_vendor": board["vendor"],
        "board_name": board["product"], "board_version": board["version"],
        "board_asset_tag": "Default string", "chassis_vendor": "Default string",
        "chassis_type": 3, "chassis_version": "Default string",
        "chassis_asset_tag": "Default string", "sys_vendor": board["system_vendor"],
        "product_name": board["system_product"], "product_version": "System Version",
        "product_sku": "SKU", "product_family": "To be filled by O.E.M.",
        "uevent": b"MODALIAS=dmi:\n", "modalias": "dmi:"})
    files.write_all(path, {
        "board_serial": board["serial"], "product_serial": "System Serial Number",
        "chassis_serial": "Default string", "product_uuid": machine.uuid(machine.hostname)}, 0o400)
    files.link(f"{path}/subsystem", "/sys/class/dmi")
    files.link("/sys/class/dmi/id", path)
    table, entry_point = smbios.build(machine)
    files.write("/sys/firmware/dmi/tables/DMI", table, 0o400)
    files.write("/sys/firmware/dmi/tables/smbios_entry_point", entry_point, 0o400)


def cpu_list(machine):
    """(thread, socket, core) of each logical processor; siblings are `cores` apart."""
    facts = machine.cpu_facts
    cores, threads = facts["cores"], facts["threads"]
    for thread in range(threads * facts["sockets"]):
        core = thread % (cores * facts["sockets"])
        yield thread, core // cores, core % cores


def write_cpus(machine):
    files, facts = machine.files, machine.cpu_facts
    total = facts["threads"] * facts["sockets"]
    base = "/sys/devices/system/cpu"
    for name in ("online", "present", "possible"):
        files.write(f"{base}/{name}", f"0-{total - 1}")
    step = facts["cores"] * facts["sockets"]
    for thread, socket, core in cpu_list(machine):
        siblings = ",".join(str(n) for n in range(thread % step, total, step))
        files.write_all(f"{base}/cpu{thread}/topology", {
            "physical_package_id": socket, "core_id": core, "thread_siblings_list": siblings})


def cpuinfo(machine):
    facts = machine.cpu_facts
    flags = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx"
    if machine.virtual:
        flags += " hypervisor"
    entries = []
    for thread, socket, core in cpu_list(machine):
        entries.append("\n".join([
            f"processor\t: {thread}", f"vendor_id\t: {facts['vendor']}",
            f"cpu family\t: {facts['family']}", f"model\t\t: {facts['number']}",
            f"model name\t: {facts['model']}", "stepping\t: 0", f"cpu MHz\t\t: {facts['mhz']}.000",
            "cache size\t: 512 KB", f"physical id\t: {socket}", f"siblings\t: {facts['threads']}",
            f"core id\t\t: {core}", f"cpu cores\t: {facts['cores']}", f"apicid\t\t: {thread}",
            f"flags\t\t: {flags}", ""]))
    return "\n".join(entries)


def mdstat(machine):
    levels = sorted({f"[{level}]" for _, level, _, _ in machine.arrays})
    lines = ["Personalities : " + " ".join(levels) if levels else "Personalities : "]
    for block, level, members, active in machine.arrays:
        names = " ".join(f"{member.name}[{i}]" + ("" if i < active else "(F)")
                         for i, member in reversed(list(enumerate(members))))
        marks = "U" * active + "_" * (len(members) - active)
        lines += [f"{block.name} : active {level} {names}",
                  f"      {block.size // 1024} blocks super 1.2 [{len(members)}/{active}] [{marks}]",
                  "      ", ""]
    return "\n".join(lines + ["unused devices: <none>"])


def mountinfo(machine):
    """PID 1's, with the kernel's own file systems first."""
    fixed = ["21 27 0:20 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw",
             "22 27 0:21 / /proc rw,relatime shared:14 - proc proc rw",
             "23 27 0:5 / /dev rw,nosuid,relatime shared:2 - devtmpfs udev rw,mode=755",
             "26 27 0:23 / /run rw,nosuid,nodev,noexec,relatime shared:5 - tmpfs tmpfs rw"]
    lines = []
    for i, (device, where, kind, source, options) in enumerate(machine.mounts):
        parent = 1 if where == "/" else 27
        number = 27 if where == "/" else 30 + i
        escaped = where.replace("\\", "\\134").replace(" ", "\\040")
        lines.append(f"{number} {parent} {device} / {escaped} rw,relatime shared:{i + 20} - "
                     f"{kind} {source} {options}")
    return "\n".join(fixed + lines)


def write_proc(machine):
    kilobytes = machine.memory_bytes // 1024
    usable = kilobytes - kilobytes // 64       # what firmware and kernel keep
    version = machine.kernel
    files = machine.files
    files.write_all("/proc", {
        "cpuinfo": cpuinfo(machine), "mdstat": mdstat(machine) if machine.arrays else None,
        "meminfo": "\n".join([f"MemTotal:       {usable} kB",
                              f"MemFree:        {usable // 2} kB",
                              f"MemAvailable:   {usable * 3 // 4} kB",
                              "Buffers:               0 kB", "Cached:           102400 kB",
                              f"SwapTotal:      {sum(s[2] for s in machine.swaps)} kB",
                              f"SwapFree:       {sum(s[2] for s in machine.swaps)} kB"]),
        "swaps": "\n".join(["Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority"] + [
            f"{name:40}{kind}\t{size}\t\t0\t\t{priority}"
            for name, kind, size, priority in machine.swaps]),
        "version": f"Linux version {version} (build@bed) (gcc) #1 SMP",
        "1/mountinfo": mountinfo(machine),
        "sys/kernel/osrelease": version, "sys/kernel/hostname": machine.hostname,
        "sys/kernel/random/boot_id": machine.uuid("boot" + machine.hostname)})


def write_etc(machine):
    number, codename = machine.os_release
    files = machine.files
    files.write("/etc/os-release", "\n".join([
        f'PRETTY_NAME="Debian GNU/Linux {number} ({codename})"', 'NAME="Debian GNU/Linux"',
        f'VERSION_ID="{number}"', f'VERSION="{number} ({codename})"',
        f"VERSION_CODENAME={codename}", "ID=debian", 'HOME_URL="https://www.debian.org/"']), 0o644)
    files.write("/etc/hostname", machine.hostname, 0o644)
    files.write("/etc/debian_version", f"{number}.0", 0o644)
    files.write("/etc/machine-id", machine.uuid("machine-id" + machine.hostname).replace("-", ""))
    entries = [("base-files", f"{number}", "amd64")] + machine.packages
    files.write("/var/lib/dpkg/status", "\n".join(
        f"Package: {name}\nStatus: install ok installed\nPriority: optional\nSection: admin\n"
        f"Architecture: {architecture}\nVersion: {version}\nDescription: {name}\n"
        for name, version, architecture in entries), 0o644)


def write_dev_nodes(machine):
    files, seen = machine.files, set()
    for controller in machine.controllers:
        files.write(f"/dev/{controller.name}", "char 0600", 0o644)
    for block in machine.blocks:
        if not block.hidden:
            files.write(f"/dev/{block.name}", "block 0660", 0o644)
        if not block.hidden and not machine.lean:
            for link in dict.fromkeys(block_links(block)):
                if link not in seen:
                    files.link(f"/dev/{link}", f"/dev/{block.name}")
                    seen.add(link)


def write_scripts(machine):
    if machine.script:
        machine.files.write("/nvme-script", "\n".join(machine.script), 0o644)
    # Virtual interfaces come last in a kernel too; what a tap cannot be, fakehost does not make.
    taps = [f"{net['name']} {net['mac']} {net['state']} {net['speed'] or 0}"
            for net in machine.nets if net["function"] and not net["function"].physical]
    if taps:
        machine.files.write("/net-interfaces", "\n".join(taps), 0o644)
    if machine.ethtool:
        machine.files.write("/ethtool-script", "\n".join(machine.ethtool), 0o644)
