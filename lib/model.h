/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every object that pnhw knows, each as one field list; a field is spelled here and nowhere else.
 * Knows nothing of where values come from or who shows them. */
#pragma once

#include "schema.h"

/* F(type, kind, name, unit or object type, heading, doc)
 * The order of fields is the order in JSON and in `pnhwctl show`. */

#define PN_PRODUCT_FIELDS(F, T)                                                                    \
        F(T, TEXT, vendor, "", "VENDOR", "Maker, as the firmware gives it.")                       \
        F(T, TEXT, product, "", "PRODUCT", "Product name, as the firmware gives it.")

#define PN_BIOS_FIELDS(F, T)                                                                       \
        F(T, TEXT, version, "", "VERSION", "Firmware version.")                                    \
        F(T, TEXT, date, "", "DATE", "Firmware release date, as the firmware gives it.")

#define PN_CPU_FIELDS(F, T)                                                                        \
        F(T, TEXT, model, "", "MODEL", "Processor model.")                                         \
        F(T, INT, sockets, "", "SOCKETS", "Processor packages.")                                   \
        F(T, INT, cores, "", "CORES", "Physical cores in all packages.")                           \
        F(T, INT, threads, "", "THREADS", "Logical processors in all packages.")

#define PN_DIMM_FIELDS(F, T)                                                                       \
        F(T, TEXT, locator, "", "LOCATOR", "The board's name of the memory socket.")               \
        F(T, INT, size_bytes, "bytes", "SIZE", "Size of the module; null for an empty socket.")    \
        F(T, TEXT, type, "", "TYPE", "Memory type: DDR4, DDR5, ...")                               \
        F(T, INT, speed_mts, "MT/s", "RATED", "The fastest rate that the module supports.")        \
        F(T, INT, configured_mts, "MT/s", "RUNS AT", "The rate that the firmware configured.")     \
        F(T, TEXT, manufacturer, "", "MAKER", "Maker of the module.")                              \
        F(T, TEXT, part_number, "", "PART", "The maker's part number.")

#define PN_SLOT_FIELDS(F, T)                                                                       \
        F(T, TEXT, designation, "", "SLOT", "The name printed on the board.")                      \
        F(T, TEXT, type, "", "TYPE", "Form and generation: PCIe 4.0 x16, M.2 socket 3, ...")       \
        F(T, REAL, speed, "GT/s", "SPEED", "Lane rate that the slot's type implies.")              \
        F(T, INT, width, "lanes", "LANES", "Lanes that are wired to the slot.")                    \
        F(T, BOOL, in_use, "", "IN USE", "Whether the firmware found a card in it at boot.")       \
        F(T, TEXT, address, "", "ADDRESS", "PCI address, where the firmware gives a real one.")

#define PN_HOTTEST_FIELDS(F, T)                                                                    \
        F(T, KEY, name, "", "DEVICE", "A drive, or the device that a sensor is part of.")          \
        F(T, TEXT, part, "", "PART OF", "What the sensor's device is, as in Chip.")                \
        F(T, TEXT, part_name, "", "WHICH ONE", "Which one, as in Chip.")                           \
        F(T, TEXT, label, "", "SENSOR", "The sensor's name; null for a drive as a whole.")         \
        F(T, REAL, temperature_c, "°C", "TEMPERATURE", "What it measures.")                        \
        F(T, REAL, limit_c, "°C", "LIMIT", "Above this it is too hot, where that is known.")

#define PN_MOST_WORN_FIELDS(F, T)                                                                  \
        F(T, KEY, name, "", "DRIVE", "The drive.")                                                 \
        F(T, INT, used_percent, "%", "WORN", "Of its rated life.")                                 \
        F(T, INT, spare_percent, "%", "SPARE", "Spare blocks that are left.")

#define PN_VITALS_FIELDS(F, T)                                                                     \
        F(T, OBJ, hottest_drive, Hottest, "HOTTEST DRIVE", "The drive that is nearest its limit.") \
        F(T, OBJ, hottest_sensor, Hottest, "HOTTEST SENSOR",                                       \
          "The sensor that is nearest its limit.")                                                 \
        F(T, OBJ, most_worn, MostWorn, "MOST WORN", "The drive that is most worn.")

#define PN_HOST_FIELDS(F, T)                                                                       \
        F(T, TEXT, hostname, "", "HOST", "Host name.")                                             \
        F(T, OBJ, machine, Product, "MACHINE", "The machine as a whole.")                          \
        F(T, OBJ, board, Product, "BOARD", "The main board.")                                      \
        F(T, OBJ, bios, Bios, "BIOS", "The firmware.")                                             \
        F(T, OBJ, cpu, Cpu, "CPU", "The processors.")                                              \
        F(T, INT, memory_bytes, "bytes", "MEMORY", "Memory that the kernel can use.")              \
        F(T, LIST, dimms, Dimm, "DIMMS", "Memory sockets (SMBIOS type 17).")                       \
        F(T, LIST, slots, Slot, "SLOTS", "Expansion slots (SMBIOS type 9).")                       \
        F(T, TEXT, kernel, "", "KERNEL", "Kernel release.")                                        \
        F(T, TEXT, os, "", "OS", "Operating system, as os-release names it.")                      \
        F(T, TEXT, proxmox_version, "", "PROXMOX VE", "Version of Proxmox VE, where installed.")   \
        F(T, TEXT, virtualization, "", "VIRTUAL", "Hypervisor that this system runs under.")       \
        F(T, OBJ, vitals, Vitals, "VITALS",                                                        \
          "The hottest and the most worn of its devices; in a status alone.")

#define PN_LINK_FIELDS(F, T)                                                                       \
        F(T, REAL, current_speed, "GT/s", "SPEED", "Lane rate now.")                               \
        F(T, INT, current_width, "lanes", "WIDTH", "Lanes in use now.")                            \
        F(T, REAL, max_speed, "GT/s", "MAX SPEED", "Fastest lane rate that this end supports.")    \
        F(T, INT, max_width, "lanes", "MAX WIDTH", "Most lanes that this end supports.")           \
        F(T, REAL, target_speed, "GT/s", "TARGET",                                                 \
          "Upper limit that firmware or software set in a port (LNKCTL2).")                        \
        F(T, REALS, supported_speeds, "GT/s", "SPEEDS", "Lane rates that this end supports.")

#define PN_AER_FIELDS(F, T)                                                                        \
        F(T, INT, correctable, "errors", "CORRECTABLE", "Corrected errors since boot.")            \
        F(T, INT, nonfatal, "errors", "NON-FATAL", "Uncorrected, non-fatal errors since boot.")    \
        F(T, INT, fatal, "errors", "FATAL", "Fatal errors since boot.")

#define PN_PCI_FIELDS(F, T)                                                                        \
        F(T, KEY, address, "", "ADDRESS", "The kernel's address: domain:bus:device.function.")     \
        F(T, TEXT, class, "", "CLASS", "Class code, six hexadecimal digits.")                      \
        F(T, TEXT, vendor_id, "", "VENDOR ID", "Vendor id.")                                       \
        F(T, TEXT, device_id, "", "DEVICE ID", "Device id.")                                       \
        F(T, TEXT, subsystem_vendor_id, "", "SUBVENDOR", "Subsystem vendor id.")                   \
        F(T, TEXT, subsystem_device_id, "", "SUBDEVICE", "Subsystem device id.")                   \
        F(T, TEXT, vendor, "", "VENDOR", "Vendor's name in the hardware database.")                \
        F(T, TEXT, name, "", "NAME", "Device's name in the hardware database.")                    \
        F(T, TEXT, driver, "", "DRIVER", "Driver that is bound.")                                  \
        F(T, TEXT, kind, "", "KIND",                                                               \
          "endpoint, root_port, upstream_port, downstream_port, bridge, integrated, "              \
          "virtual_function or conventional.")                                                     \
        F(T, TEXT, parent, "", "PARENT", "Address of the function above it.")                      \
        F(T, TEXT, slot, "", "SLOT", "The slot that it sits in, as the kernel or board names it.") \
        F(T, BOOL, slot_implemented, "", "SLOT PORT", "Port only: it leads to a slot.")            \
        F(T, INT, secondary_bus, "", "SECONDARY", "Port or bridge only: the bus below it.")        \
        F(T, TEXT, power, "", "POWER", "active, suspended or unknown.")                            \
        F(T, BOOL, passed_through, "", "PASSED THROUGH", "Handed to a guest.")                     \
        F(T, BOOL, removable, "", "REMOVABLE", "Behind a port that leads out of the case.")        \
        F(T, INT, numa_node, "", "NUMA", "NUMA node.")                                             \
        F(T, INT, iommu_group, "", "IOMMU", "IOMMU group.")                                        \
        F(T, TEXT, physical_function, "", "PF", "Virtual function only: its physical function.")   \
        F(T, INT, vf_count, "", "VFS", "Virtual functions in use.")                                \
        F(T, OBJ, link, Link, "LINK", "This end of the link.")                                     \
        F(T, OBJ, aer, Aer, "ERRORS", "Advanced Error Reporting totals.")

#define PN_USE_FIELDS(F, T)                                                                        \
        F(T, KEY, type, "", "TYPE",                                                                \
          "zfs_member, lvm2_member, linux_raid_member, filesystem, swap, partition, mount, ...")   \
        F(T, TEXT, name, "", "NAME", "Pool, volume group, array, label or file system.")           \
        F(T, TEXT, device, "", "DEVICE", "Block device that carries it.")                          \
        F(T, TEXT, mount, "", "MOUNT", "Mount point.")

#define PN_NAMESPACE_FIELDS(F, T)                                                                  \
        F(T, KEY, name, "", "NAME", "Block device of the namespace.")                              \
        F(T, INT, nsid, "", "NSID", "Namespace id.")                                               \
        F(T, INT, capacity_bytes, "bytes", "CAPACITY", "Size of the namespace.")                   \
        F(T, INT, used_bytes, "bytes", "IN USE", "What of it holds data, as the drive counts.")    \
        F(T, INT, block_size, "bytes", "BLOCK", "Logical block size.")                             \
        F(T, INT, metadata_size, "bytes", "METADATA", "Metadata bytes per block.")                 \
        F(T, TEXT, device_number, "", "DEVNO", "Block device number, major:minor.")                \
        F(T, LIST, uses, Use, "USED BY", "What lives on it.")

#define PN_NVME_SENSOR_FIELDS(F, T)                                                                \
        F(T, NUM, index, "", "SENSOR", "Number of the sensor, 1 to 8.")                            \
        F(T, INT, temperature_c, "°C", "TEMPERATURE", "What it measures.")

#define PN_HEALTH_FIELDS(F, T)                                                                     \
        F(T, TEXTS, critical_warnings, "", "WARNINGS",                                             \
          "spare, temperature, reliability, read_only, volatile_backup, persistent_memory.")       \
        F(T, INT, temperature_c, "°C", "TEMPERATURE", "The drive's one temperature.")              \
        F(T, LIST, sensors, NvmeSensor, "SENSORS", "Sensors that the drive has.")                  \
        F(T, INT, warning_temperature_c, "°C", "WARNS AT", "Hot, says its maker.")                 \
        F(T, INT, critical_temperature_c, "°C", "CRITICAL AT", "Too hot, says its maker.")         \
        F(T, INT, spare_percent, "%", "SPARE", "Spare blocks that are left.")                      \
        F(T, INT, spare_threshold_percent, "%", "SPARE LIMIT", "Below it the drive warns.")        \
        F(T, INT, used_percent, "%", "WORN", "Of its rated life; may go beyond 100, 255 is more.") \
        F(T, INT, data_units_read, "", "UNITS READ", "Thousands of 512 bytes, rounded up.")        \
        F(T, INT, data_units_written, "", "UNITS WRITTEN", "Thousands of 512 bytes, rounded up.")  \
        F(T, INT, bytes_read, "bytes", "READ", "At most this much was read.")                      \
        F(T, INT, bytes_written, "bytes", "WRITTEN", "At most this much was written.")             \
        F(T, INT, host_reads, "", "READS", "Read commands completed.")                             \
        F(T, INT, host_writes, "", "WRITES", "Write commands completed.")                          \
        F(T, INT, busy_minutes, "min", "BUSY", "Time with commands to do.")                        \
        F(T, INT, power_cycles, "", "POWER CYCLES", "Times that it was switched on.")              \
        F(T, INT, power_on_hours, "h", "POWER ON", "Time with power.")                             \
        F(T, INT, unsafe_shutdowns, "", "UNSAFE OFF", "Times that power went without notice.")     \
        F(T, INT, media_errors, "errors", "MEDIA ERRORS", "Data that could not be recovered.")     \
        F(T, INT, error_log_entries, "", "ERROR LOG",                                              \
          "Entries over the drive's life; commands that it refused are among them.")               \
        F(T, INT, refused_commands, "", "REFUSED",                                                 \
          "Of the entries that came while it was watched: commands that it does not have.")        \
        F(T, INT, failed_commands, "", "FAILED",                                                   \
          "Of the entries that came while it was watched: commands that failed in the drive.")     \
        F(T, INT, warning_temperature_minutes, "min", "TIME HOT", "Time above the first limit.")   \
        F(T, INT, critical_temperature_minutes, "min", "TIME TOO HOT",                             \
          "Time above the second limit.")                                                          \
        F(T, TEXT, updated, "", "READ AT", "When the drive said so (RFC 3339, UTC).")

#define PN_NVME_FIELDS(F, T)                                                                       \
        F(T, KEY, name, "", "DRIVE", "The kernel's name of the controller.")                       \
        F(T, TEXT, address, "", "ADDRESS", "PCI address; null for other transports.")              \
        F(T, TEXT, transport, "", "TRANSPORT", "pcie, tcp, rdma, fc, loop, ...")                   \
        F(T, TEXT, state, "", "STATE", "live, resetting, connecting, dead, ...")                   \
        F(T, TEXT, model, "", "MODEL", "Model number.")                                            \
        F(T, TEXT, serial, "", "SERIAL", "Serial number.")                                         \
        F(T, TEXT, firmware, "", "FIRMWARE", "Firmware revision.")                                 \
        F(T, TEXT, subsystem, "", "NQN", "NVMe qualified name of the subsystem.")                  \
        F(T, INT, controller_id, "", "CNTLID", "Controller id in the subsystem.")                  \
        F(T, BOOL, lost, "", "LOST", "Known before, not found now.")                               \
        F(T, LIST, namespaces, Namespace, "NAMESPACES", "Namespaces that it gives access to.")     \
        F(T, OBJ, health, Health, "HEALTH", "What the drive says of itself; PCIe drives only.")

#define PN_NAMESPACE_USED_FIELDS(F, T)                                                             \
        F(T, NUM, nsid, "", "NSID", "Namespace id.")                                               \
        F(T, INT, used_bytes, "bytes", "IN USE", "What of it holds data, as the drive counts.")

#define PN_NVME_HEALTH_FIELDS(F, T)                                                                \
        F(T, KEY, name, "", "DRIVE", "The kernel's name of the controller.")                       \
        F(T, TEXT, serial, "", "SERIAL", "Serial number.")                                         \
        F(T, OBJ, health, Health, "HEALTH", "What the drive says of itself.")                      \
        F(T, LIST, namespaces, NamespaceUsed, "NAMESPACES", "What its namespaces hold.")

#define PN_DISK_FIELDS(F, T)                                                                       \
        F(T, KEY, name, "", "DISK", "The kernel's name.")                                          \
        F(T, TEXT, model, "", "MODEL", "Model.")                                                   \
        F(T, TEXT, serial, "", "SERIAL", "Serial number.")                                         \
        F(T, TEXT, wwn, "", "WWN", "World wide name.")                                             \
        F(T, TEXT, transport, "", "TRANSPORT", "sata, sas, usb, virtio, ...")                      \
        F(T, BOOL, rotational, "", "ROTATIONAL", "Whether it has spinning platters.")              \
        F(T, INT, size_bytes, "bytes", "SIZE", "Capacity.")                                        \
        F(T, INT, logical_block_size, "bytes", "LOGICAL", "Smallest addressable unit.")            \
        F(T, INT, physical_block_size, "bytes", "PHYSICAL", "Smallest unit written at once.")      \
        F(T, TEXT, address, "", "ADDRESS", "PCI address of the controller that it hangs on.")      \
        F(T, TEXT, device_number, "", "DEVNO", "Block device number, major:minor.")                \
        F(T, LIST, uses, Use, "USED BY", "What lives on it.")

#define PN_BLOCK_USES_FIELDS(F, T)                                                                 \
        F(T, KEY, name, "", "NAME", "Block device of an NVMe namespace.")                          \
        F(T, TEXT, device_number, "", "DEVNO", "Block device number, major:minor.")                \
        F(T, LIST, uses, Use, "USED BY", "What lives on it.")

#define PN_READING_FIELDS(F, T)                                                                    \
        F(T, KEY, label, "", "SENSOR", "What it measures, as the board or its owner names it.")    \
        F(T, TEXT, feature, "", "FEATURE", "The kernel's name: temp1, fan2, in0, ...")             \
        F(T, TEXT, kind, "", "KIND",                                                               \
          "temperature, fan, voltage, power, current, energy, humidity; control for a "            \
          "temperature that is made for fan control.")                                             \
        F(T, REAL, value, "", "VALUE", "What it measures, in its unit.")                           \
        F(T, TEXT, unit, "", "UNIT", "A unit's sign: V, RPM, W, A, J, %.")                         \
        F(T, REAL, min, "", "LOW", "Lower limit, where one is set that makes sense.")              \
        F(T, REAL, max, "", "HIGH", "Upper limit, where one is set that makes sense.")             \
        F(T, REAL, critical, "", "CRITICAL", "Limit of damage, where one makes sense.")            \
        F(T, BOOL, alarm, "", "ALARM", "Whether the chip raises an alarm.")                        \
        F(T, BOOL, plausible, "", "PLAUSIBLE", "Whether the value can be believed.")

#define PN_CHIP_FIELDS(F, T)                                                                       \
        F(T, KEY, chip, "", "CHIP", "Name by libsensors: k10temp-pci-00c3, ...")                   \
        F(T, TEXT, device, "", "DEVICE",                                                           \
          "What it is part of: a PCI address, an interface, a disk, or its place in the system.")  \
        F(T, TEXT, part, "", "PART OF",                                                            \
          "What that is: CPU, board, memory, graphics card, network card, storage controller, "    \
          "power supply, disk; null where it is not known.")                                       \
        F(T, TEXT, part_name, "", "WHICH ONE",                                                     \
          "Which one: an interface, a disk, a slot or an address; null where there is no other.")  \
        F(T, LIST, readings, Reading, "READINGS", "What it measures.")

#define PN_MODULE_LENGTH_FIELDS(F, T)                                                              \
        F(T, KEY, medium, "", "MEDIUM",                                                            \
          "SMF, OM1, OM2, OM3, OM4, OM5, copper, or cable for an active optical one.")             \
        F(T, REAL, metres, "m", "METRES", "Longest link on it; of a cable, its length.")

#define PN_MODULE_LANE_FIELDS(F, T)                                                                \
        F(T, REAL, rx_power_mw, "mW", "RX POWER", "Light received; 0 is dark, null not measured.") \
        F(T, REAL, rx_power_dbm, "dBm", "RX LEVEL", "The same as a level; null for 0 mW.")         \
        F(T, REAL, tx_power_mw, "mW", "TX POWER", "Light sent; 0 is dark, null not measured.")     \
        F(T, REAL, tx_power_dbm, "dBm", "TX LEVEL", "The same as a level; null for 0 mW.")         \
        F(T, REAL, bias_ma, "mA", "BIAS", "Current through the laser.")

#define PN_MODULE_LIMITS_FIELDS(F, T)                                                              \
        F(T, REAL, high_alarm, "", "HIGH ALARM", "Above it the module raises an alarm.")           \
        F(T, REAL, high_warning, "", "HIGH WARNING", "Above it the module warns.")                 \
        F(T, REAL, low_warning, "", "LOW WARNING", "Below it the module warns.")                   \
        F(T, REAL, low_alarm, "", "LOW ALARM", "Below it the module raises an alarm.")

#define PN_MODULE_THRESHOLDS_FIELDS(F, T)                                                          \
        F(T, OBJ, temperature, ModuleLimits, "TEMPERATURE", "Limits of the temperature, °C.")      \
        F(T, OBJ, voltage, ModuleLimits, "VOLTAGE", "Limits of the supply voltage, V.")            \
        F(T, OBJ, rx_power, ModuleLimits, "RX POWER", "Limits of the light received, mW.")         \
        F(T, OBJ, tx_power, ModuleLimits, "TX POWER", "Limits of the light sent, mW.")             \
        F(T, OBJ, bias, ModuleLimits, "BIAS", "Limits of the current through the laser, mA.")

#define PN_MODULE_DIAGNOSTICS_FIELDS(F, T)                                                         \
        F(T, REAL, temperature_c, "°C", "TEMPERATURE", "Temperature of the module.")               \
        F(T, REAL, voltage_v, "V", "VOLTAGE", "Supply voltage.")                                   \
        F(T, LIST, lanes, ModuleLane, "LANES", "Light and current of each lane, from lane 1.")     \
        F(T, OBJ, thresholds, ModuleThresholds, "THRESHOLDS", "The module's own limits.")          \
        F(T, TEXTS, flags, "", "FLAGS",                                                            \
          "What the module raised: temperature_high_alarm, rx_power_low_warning_2, rx_los, ...")

#define PN_MODULE_FIELDS(F, T)                                                                     \
        F(T, KEY, status, "", "STATUS",                                                            \
          "present, none, unsupported_map, permission_denied, unsupported_by_driver or "           \
          "unreadable.")                                                                           \
        F(T, TEXT, form, "", "FORM", "SFP, SFP+, SFP28, QSFP+, QSFP28, QSFP-DD, OSFP, ...")        \
        F(T, TEXT, standard, "", "STANDARD", "Its memory map: SFF-8472, SFF-8636 or CMIS.")        \
        F(T, TEXT, vendor, "", "VENDOR", "Maker.")                                                 \
        F(T, TEXT, oui, "", "OUI", "The maker's IEEE identifier.")                                 \
        F(T, TEXT, part_number, "", "PART", "The maker's part number.")                            \
        F(T, TEXT, revision, "", "REVISION", "The maker's revision.")                              \
        F(T, TEXT, serial, "", "SERIAL", "Serial number.")                                         \
        F(T, TEXT, date_code, "", "DATE", "Date of making and lot, as the module gives it.")       \
        F(T, TEXT, type, "", "TYPE", "10GBASE-SR, 10GBASE-LRM, passive copper, ...")               \
        F(T, TEXT, connector, "", "CONNECTOR", "LC, SC, MPO, RJ45, ...")                           \
        F(T, REAL, wavelength_nm, "nm", "WAVELENGTH", "Wavelength of the light sent.")             \
        F(T, INT, nominal_mbd, "MBd", "RATE", "Nominal signalling rate of a lane.")                \
        F(T, LIST, lengths, ModuleLength, "LENGTHS", "How far it reaches, for each medium.")       \
        F(T, BOOL, checksum_ok, "", "CHECKSUM", "Whether the checksums of its identity hold.")     \
        F(T, OBJ, diagnostics, ModuleDiagnostics, "DIAGNOSTICS", "What it measures.")

#define PN_NIC_ERRORS_FIELDS(F, T)                                                                 \
        F(T, INT, rx_crc, "errors", "RX CRC", "Frames received with a wrong checksum.")            \
        F(T, INT, rx_errors, "errors", "RX ERRORS", "Bad frames received, of all kinds.")          \
        F(T, INT, tx_errors, "errors", "TX ERRORS", "Frames that could not be sent.")              \
        F(T, INT, rx_dropped, "frames", "RX DROPPED", "Good frames that found no room.")           \
        F(T, INT, fcs, "errors", "FCS", "IEEE 802.3: frames received with a wrong checksum.")      \
        F(T, INT, symbol, "errors", "SYMBOL", "IEEE 802.3: frames in which a symbol was invalid.") \
        F(T, INT, oversize, "frames", "OVERSIZE", "RMON: good frames that were too long.")         \
        F(T, INT, fec_corrected, "blocks", "FEC CORRECTED", "Blocks that the FEC corrected.")      \
        F(T, INT, fec_uncorrectable, "blocks", "FEC LOST", "Blocks that the FEC could not.")

#define PN_BOND_MEMBER_FIELDS(F, T)                                                                \
        F(T, KEY, name, "", "MEMBER", "Interface that is a member.")                               \
        F(T, BOOL, mii_up, "", "LINK", "Whether the bond sees a link on it.")                      \
        F(T, INT, aggregator, "", "AGGREGATOR", "802.3ad: the aggregator that it joined.")         \
        F(T, INT, actor_state, "", "ACTOR", "802.3ad: our port state, as LACP sends it.")          \
        F(T, INT, partner_state, "", "PARTNER", "802.3ad: the partner's port state.")              \
        F(T, TEXT, partner_mac, "", "PARTNER MAC", "802.3ad: the partner's system.")

#define PN_BOND_FIELDS(F, T)                                                                       \
        F(T, TEXT, mode, "", "MODE", "802.3ad, active-backup, balance-alb, ….")                    \
        F(T, INT, active_aggregator, "", "AGGREGATOR", "802.3ad: the one that carries traffic.")   \
        F(T, TEXT, active_member, "", "ACTIVE", "active-backup: the member that carries traffic.") \
        F(T, LIST, members, BondMember, "MEMBERS", "Its member interfaces.")

#define PN_NIC_FIELDS(F, T)                                                                        \
        F(T, KEY, id, "", "ID",                                                                    \
          "The interface's name; of a function that has no interface, its PCI address.")           \
        F(T, TEXT, name, "", "PORT", "The interface's name; null for a function without one.")     \
        F(T, TEXT, reason, "", "NO INTERFACE",                                                     \
          "Why there is none: no_driver, none_made, other_namespace or passed_through.")           \
        F(T, TEXT, kind, "", "KIND", "physical, bond, bridge, vlan or virtual.")                   \
        F(T, TEXT, address, "", "ADDRESS", "PCI address of its function.")                         \
        F(T, INT, port_number, "", "PORT NUMBER", "Which of its function's ports it is, from 0.")  \
        F(T, TEXT, mac, "", "MAC", "Hardware address in use.")                                     \
        F(T, TEXT, permanent_mac, "", "PERMANENT MAC", "Hardware address that it was made with.")  \
        F(T, TEXT, driver, "", "DRIVER", "Driver that is bound.")                                  \
        F(T, TEXT, firmware, "", "FIRMWARE", "Firmware version.")                                  \
        F(T, TEXT, state, "", "STATE", "Operational state: up, down, dormant, ….")                 \
        F(T, BOOL, enabled, "", "ENABLED", "Whether an administrator set it up.")                  \
        F(T, BOOL, carrier, "", "CARRIER", "Whether there is a link.")                             \
        F(T, TEXT, link_reason, "", "NO LINK", "Why there is no link, where the driver knows.")    \
        F(T, INT, carrier_changes, "", "CHANGES", "How often the link came or went.")              \
        F(T, INT, mtu, "bytes", "MTU", "Largest packet.")                                          \
        F(T, INT, speed_mbps, "Mb/s", "SPEED", "What it runs at.")                                 \
        F(T, TEXT, duplex, "", "DUPLEX", "full or half.")                                          \
        F(T, BOOL, autonegotiation, "", "AUTONEGOTIATION", "Whether the speed is negotiated.")     \
        F(T, REALS, supported_mbps, "Mb/s", "SUPPORTED", "Speeds that the port supports.")         \
        F(T, REALS, advertised_mbps, "Mb/s", "OFFERED", "Speeds that it offers its partner.")      \
        F(T, REALS, partner_mbps, "Mb/s", "PARTNER", "Speeds that the partner offers.")            \
        F(T, TEXT, fec, "", "FEC",                                                                 \
          "Forward error correction of a link of 25 Gb/s and more: none, rs, baser or llrs.")      \
        F(T, TEXTS, fec_configured, "", "FEC SETTING", "What it may be: auto, none, rs, ….")       \
        F(T, TEXT, port, "", "CONNECTOR", "tp, fibre, da, backplane, none or other.")              \
        F(T, TEXT, master, "", "MASTER", "Bond or bridge that it belongs to.")                     \
        F(T, TEXT, lower, "", "ON", "VLAN only: the interface that carries it.")                   \
        F(T, INT, vlan_id, "", "VLAN", "VLAN only: its number.")                                   \
        F(T, INT, vf_count, "", "VFS", "Virtual functions in use.")                                \
        F(T, OBJ, errors, NicErrors, "ERRORS", "Totals since the driver was loaded.")              \
        F(T, OBJ, bond, Bond, "BOND", "Bond only: its mode and members.")                          \
        F(T, OBJ, module, Module, "MODULE", "What is plugged into it.")

#define PN_PORT_MODULE_FIELDS(F, T)                                                                \
        F(T, KEY, name, "", "PORT", "Interface.")                                                  \
        F(T, TEXT, address, "", "ADDRESS", "PCI address of its function.")                         \
        F(T, INT, port_number, "", "PORT NUMBER", "Which of its function's ports it is, from 0.")  \
        F(T, OBJ, module, Module, "MODULE", "What is plugged into it.")

#define PN_SOURCE_FIELDS(F, T)                                                                     \
        F(T, KEY, name, "", "SOURCE", "host, pci, nvme, block, ...")                               \
        F(T, TEXT, state, "", "STATE", "fresh, stale, failed or never.")                           \
        F(T, TEXT, updated, "", "UPDATED", "When it was last read in full (RFC 3339, UTC).")       \
        F(T, INT, took_ms, "ms", "TOOK", "How long the last read took.")                           \
        F(T, TEXT, reason, "", "REASON", "Why it is not fresh.")

#define PN_INVENTORY_FIELDS(F, T)                                                                  \
        F(T, OBJ, host, Host, "HOST", "The machine.")                                              \
        F(T, LIST, pci, Pci, "PCI", "PCI functions, by address.")                                  \
        F(T, LIST, nvme, Nvme, "NVME", "NVMe controllers, by number.")                             \
        F(T, LIST, disks, Disk, "DISKS", "Block devices that are not NVMe.")                       \
        F(T, LIST, namespace_uses, BlockUses, "USES",                                              \
          "What lives on NVMe namespaces, before it is joined to them.")                           \
        F(T, LIST, nics, Nic, "NICS", "Network ports, and what is built on them.")                 \
        F(T, LIST, port_modules, PortModule, "MODULES",                                            \
          "What is plugged into network ports, before it is joined to them.")                      \
        F(T, LIST, nvme_health, NvmeHealth, "HEALTH",                                              \
          "What NVMe drives say of themselves, before it is joined to them.")                      \
        F(T, LIST, sensors, Chip, "SENSORS", "Chips that measure, by device.")                     \
        F(T, LIST, sources, Source, "SOURCES", "How fresh each part is.")

#define PN_LINK_RATE_FIELDS(F, T)                                                                  \
        F(T, REAL, speed, "GT/s", "SPEED", "Lane rate.")                                           \
        F(T, INT, width, "lanes", "WIDTH", "Lanes.")                                               \
        F(T, INT, bandwidth, "Mb/s", "BANDWIDTH", "Per direction, after line coding.")

#define PN_SHARED_FIELDS(F, T)                                                                     \
        F(T, TEXT, uplink, "", "UPLINK", "Address of the hop that is shared.")                     \
        F(T, REAL, ratio, "", "RATIO", "Sum of the links below it over its own bandwidth.")

#define PN_RATING_FIELDS(F, T)                                                                     \
        F(T, KEY, address, "", "ADDRESS", "First function of the link's lower end.")               \
        F(T, TEXTS, functions, "", "FUNCTIONS", "All functions that share the link.")              \
        F(T, TEXT, port, "", "PORT", "Address of the port at the link's upper end.")               \
        F(T, TEXT, name, "", "DEVICE", "The kernel's name of the device: nvme0, ...")              \
        F(T, TEXT, model, "", "MODEL", "What the device is, in words.")                            \
        F(T, TEXT, kind, "", "KIND", "nvme, network, display, storage, switch or other.")          \
        F(T, TEXT, slot, "", "SLOT", "The slot that it sits in.")                                  \
        F(T, TEXT, verdict, "", "VERDICT",                                                         \
          "full, slot_limited, degraded, path_limited, idle, asleep, tunnelled, passed_through "   \
          "or unknown.")                                                                           \
        F(T, TEXT, reason, "", "REASON",                                                           \
          "What is below: width, speed, both or target_speed; or why there is no verdict.")        \
        F(T, OBJ, current, LinkRate, "NOW", "What the link runs at.")                              \
        F(T, OBJ, rated, LinkRate, "RATED", "What both its ends could do.")                        \
        F(T, OBJ, best, LinkRate, "BEST", "What the device could do in an ideal slot.")            \
        F(T, INT, percent, "%", "OF BEST", "What reaches the device, of its best.")                \
        F(T, TEXT, limit, "", "LIMIT", "Address of the narrowest hop on the path to the root.")    \
        F(T, OBJ, shared, Shared, "SHARED", "The uplink that it shares with others.")              \
        F(T, TEXTS, affects, "", "AFFECTS", "Pools, arrays, mounts that depend on the device.")

#define PN_PORT_FIELDS(F, T)                                                                       \
        F(T, KEY, id, "", "PORT",                                                                  \
          "The interface's name; of a function that has no interface, its PCI address.")           \
        F(T, TEXT, name, "", "INTERFACE", "The interface's name; null without one.")               \
        F(T, TEXT, kind, "", "KIND", "physical or bond.")                                          \
        F(T, TEXT, address, "", "ADDRESS", "PCI address of its function.")                         \
        F(T, TEXT, model, "", "CARD", "What the card is, in words.")                               \
        F(T, TEXT, slot, "", "SLOT", "The slot that the card sits in.")                            \
        F(T, TEXT, driver, "", "DRIVER", "Driver that is bound.")                                  \
        F(T, BOOL, enabled, "", "ENABLED", "Whether an administrator set it up.")                  \
        F(T, BOOL, carrier, "", "CARRIER", "Whether there is a link.")                             \
        F(T, INT, speed_mbps, "Mb/s", "RUNS AT", "What it runs at.")                               \
        F(T, INT, best_mbps, "Mb/s", "OF", "The fastest that the port supports.")                  \
        F(T, INT, expected_mbps, "Mb/s", "EXPECTED",                                               \
          "What port, module and partner, as far as they are known, have in common.")              \
        F(T, TEXT, verdict, "", "VERDICT",                                                         \
          "full, limited, slow, half_duplex, degraded, no_link, off, no_interface, "               \
          "other_namespace, passed_through or unknown.")                                           \
        F(T, TEXT, limiter, "", "LIMITER", "module, cable, partner, setting or unknown.")          \
        F(T, TEXT, module, "", "MODULE", "What is plugged in, in words.")                          \
        F(T, TEXT, module_status, "", "MODULE STATUS", "present, none, permission_denied, ….")     \
        F(T, TEXT, master, "", "PART OF", "Bond or bridge that it belongs to.")                    \
        F(T, INT, members, "", "MEMBERS", "Bond only: its members.")                               \
        F(T, INT, working_members, "", "WORKING", "Bond only: members that carry traffic.")

#define PN_FINDING_FIELDS(F, T)                                                                    \
        F(T, KEY, id, "", "ID", "Stable short name of this finding.")                              \
        F(T, KEY, code, "", "CODE", "What kind of finding: pcie.degraded, ...")                    \
        F(T, TEXT, state, "", "STATE", "new or raised.")                                           \
        F(T, TEXT, subject, "", "SUBJECT", "What it is about, stable over reboots.")               \
        F(T, TEXT, device, "", "DEVICE", "The device's name now.")                                 \
        F(T, TEXT, address, "", "ADDRESS", "The device's PCI address now.")                        \
        F(T, TEXT, severity, "", "SEVERITY", "info, notice, warning or critical.")                 \
        F(T, TEXT, summary, "", "SUMMARY", "One sentence: what is wrong.")                         \
        F(T, TEXT, detail, "", "DETAIL", "The figures behind it, and why.")                        \
        F(T, TEXT, advice, "", "ADVICE", "What to do about it.")                                   \
        F(T, TEXT, place, "", "BETTER PLACE",                                                      \
          "Free place that the advice names: its port's address, else the slot's name.")           \
        F(T, TEXTS, affects, "", "AFFECTS", "Pools, arrays, mounts and devices behind it.")        \
        F(T, TEXT, since, "", "SINCE", "When it was first seen (RFC 3339, UTC).")                  \
        F(T, BOOL, accepted, "", "ACCEPTED", "An administrator accepted it.")                      \
        F(T, INT, extent, "", "EXTENT",                                                            \
          "How bad, in this code's own measure: errors, percent lost; null where none is. What "   \
          "is accepted is so no more when it grows.")                                              \
        F(T, TEXT, reason, "", "REASON", "Why an administrator accepted it.")                      \
        F(T, TEXT, until, "", "UNTIL", "Until when it is accepted (RFC 3339, UTC).")

#define PN_STATUS_FIELDS(F, T)                                                                     \
        F(T, NUM, schema, "", "SCHEMA", "Version of these types; fields are only ever added.")     \
        F(T, NUM, generation, "", "GENERATION", "Grows by one with each snapshot.")                \
        F(T, ONE, host, Host, "HOST", "The machine.")                                              \
        F(T, MANY, sources, Source, "SOURCES", "How fresh each part is.")                          \
        F(T, MANY, ratings, Rating, "RATINGS", "Every PCIe link, rated.")                          \
        F(T, MANY, findings, Finding, "FINDINGS", "What is wrong, worst first.")                   \
        F(T, KEY, summary, "", "SUMMARY", "Is all at its best? In a sentence.")

#define PN_DEVICE_FIELDS(F, T)                                                                     \
        F(T, KEY, name, "", "NAME", "The name that was asked for.")                                \
        F(T, KEY, kind, "", "KIND", "nvme, namespace, disk, nic or pci.")                          \
        F(T, OBJ, pci, Pci, "PCI", "The PCI function that it is or sits on.")                      \
        F(T, OBJ, nvme, Nvme, "NVME", "The NVMe controller.")                                      \
        F(T, OBJ, disk, Disk, "DISK", "The disk.")                                                 \
        F(T, OBJ, nic, Nic, "PORT", "The network port.")                                           \
        F(T, OBJ, port, Port, "JUDGED", "What the port runs at, of what it could.")                \
        F(T, LIST, path, Rating, "PATH", "Its links, from the device up to the root.")             \
        F(T, LIST, findings, Finding, "FINDINGS", "What is wrong with it.")

/* All types, each with its doc; ordered so that a type comes after those that it contains. */
#define PN_TYPES(T)                                                                                \
        T(Product, PN_PRODUCT_FIELDS, "A maker and a product.")                                    \
        T(Bios, PN_BIOS_FIELDS, "Firmware.")                                                       \
        T(Cpu, PN_CPU_FIELDS, "Processors.")                                                       \
        T(Dimm, PN_DIMM_FIELDS, "A memory socket and what is in it.")                              \
        T(Slot, PN_SLOT_FIELDS, "An expansion slot of the board.")                                 \
        T(Hottest, PN_HOTTEST_FIELDS, "What is nearest its temperature limit.")                    \
        T(MostWorn, PN_MOST_WORN_FIELDS, "The drive that is most worn.")                           \
        T(Vitals, PN_VITALS_FIELDS, "The worst of all health readings.")                           \
        T(Host, PN_HOST_FIELDS, "The machine and its software.")                                   \
        T(Link, PN_LINK_FIELDS, "One end of a PCI Express link.")                                  \
        T(Aer, PN_AER_FIELDS, "PCI Express error totals of one function.")                         \
        T(Pci, PN_PCI_FIELDS, "A PCI function.")                                                   \
        T(Use, PN_USE_FIELDS, "Something that lives on a block device.")                           \
        T(Namespace, PN_NAMESPACE_FIELDS, "An NVMe namespace.")                                    \
        T(NvmeSensor, PN_NVME_SENSOR_FIELDS, "A temperature sensor of an NVMe drive.")             \
        T(Health, PN_HEALTH_FIELDS, "What an NVMe drive says of itself.")                          \
        T(Nvme, PN_NVME_FIELDS, "An NVMe controller.")                                             \
        T(Disk, PN_DISK_FIELDS, "A block device that is not NVMe.")                                \
        T(NamespaceUsed, PN_NAMESPACE_USED_FIELDS, "What an NVMe namespace holds.")                \
        T(NvmeHealth, PN_NVME_HEALTH_FIELDS, "What one NVMe drive says of itself.")                \
        T(Reading, PN_READING_FIELDS, "One thing that a chip measures.")                           \
        T(Chip, PN_CHIP_FIELDS, "A chip that measures.")                                           \
        T(BlockUses, PN_BLOCK_USES_FIELDS, "What lives on one NVMe namespace.")                    \
        T(ModuleLength, PN_MODULE_LENGTH_FIELDS, "How far a transceiver reaches on one medium.")   \
        T(ModuleLane, PN_MODULE_LANE_FIELDS, "What a transceiver measures of one lane.")           \
        T(ModuleLimits, PN_MODULE_LIMITS_FIELDS, "A transceiver's limits of one quantity.")        \
        T(ModuleThresholds, PN_MODULE_THRESHOLDS_FIELDS, "A transceiver's own limits.")            \
        T(ModuleDiagnostics, PN_MODULE_DIAGNOSTICS_FIELDS, "What a transceiver measures.")         \
        T(Module, PN_MODULE_FIELDS, "A pluggable transceiver or cable end.")                       \
        T(NicErrors, PN_NIC_ERRORS_FIELDS, "Error totals of a network port.")                      \
        T(BondMember, PN_BOND_MEMBER_FIELDS, "A member of a bond.")                                \
        T(Bond, PN_BOND_FIELDS, "Several ports that work as one.")                                 \
        T(Nic, PN_NIC_FIELDS, "A network port, or an interface that is built on some.")            \
        T(PortModule, PN_PORT_MODULE_FIELDS, "What is plugged into one network port.")             \
        T(Source, PN_SOURCE_FIELDS, "How fresh one part of the inventory is.")                     \
        T(Inventory, PN_INVENTORY_FIELDS, "All hardware that was found.")                          \
        T(LinkRate, PN_LINK_RATE_FIELDS, "A lane rate, a width, and what they carry.")             \
        T(Shared, PN_SHARED_FIELDS, "A link that several devices share.")                          \
        T(Rating, PN_RATING_FIELDS, "One PCI Express link, judged.")                               \
        T(Port, PN_PORT_FIELDS, "A network port or bond, judged.")                                 \
        T(Finding, PN_FINDING_FIELDS, "Something that is wrong, why, and what to do.")             \
        T(Status, PN_STATUS_FIELDS, "The answer to: is all at its best?")                          \
        T(Device, PN_DEVICE_FIELDS, "Everything about one device.")

/* What follows expands the lists: for each type a struct PnX and a table pn_type_X(). */

#define PN_MEMBER_KEY(name, arg)   PnText name;
#define PN_MEMBER_TEXT(name, arg)  PnText name;
#define PN_MEMBER_NUM(name, arg)   PnInt name;
#define PN_MEMBER_INT(name, arg)   PnInt name;
#define PN_MEMBER_REAL(name, arg)  PnReal name;
#define PN_MEMBER_BOOL(name, arg)  PnBool name;
#define PN_MEMBER_TEXTS(name, arg) PnTexts name;
#define PN_MEMBER_REALS(name, arg) PnReals name;
#define PN_MEMBER_OBJ(name, arg)   PN_REF(Pn##arg) name;
#define PN_MEMBER_ONE(name, arg)   PN_REF(Pn##arg) name;
#define PN_MEMBER_LIST(name, arg)  PN_LIST(Pn##arg) name;
#define PN_MEMBER_MANY(name, arg)  PN_LIST(Pn##arg) name;

#define PN_MEMBER(T, kind, name, arg, heading, doc) PN_MEMBER_##kind(name, arg)

#define PN_DECLARE_TYPE(T, FIELDS, doc)                                                            \
        typedef struct Pn##T {                                                                     \
                FIELDS(PN_MEMBER, T)                                                               \
        } Pn##T;                                                                                   \
        const PnType *pn_type_##T(void);

PN_TYPES(PN_DECLARE_TYPE)

/* The version in `schema`: grows when a field is added. */
#define PN_SCHEMA_VERSION 1
