/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every kind of finding, one row each: what it is called, how bad it can be, and what an
 * administrator needs to know of it. The journal, its catalog, docs/findings.md, the manual and
 * `pnhwctl findings --explain` all come from this table; the rules name its rows, so that no
 * finding is without one. Knows no rule. */
#pragma once

#include "base.h"

/* C(id, code, worst severity, raise after, clear after, sources, title, meaning, remedy,
 * message id)
 *
 * Raise and clear: for how many seconds it must be seen before the journal is told, and be gone
 * before the journal is told that it is over. Sources: those of the probe without which nobody can
 * tell whether it still holds. The message id is 128 random bits, made once and never changed:
 * filters and catalogs go by it. A row is never removed or given another meaning. */
#define PN_CODES(C)                                                                                \
        C(pcie_degraded, "pcie.degraded", "critical", 60, 300, "pci nvme",                         \
          "PCI Express link below what both ends can do",                                          \
          "The link runs with fewer lanes, or slower, than both of its ends are able to: a "       \
          "fault, not a limit of the slot. It is judged from what the device and the port "        \
          "above it say of themselves, never from the device alone. It is a warning, and "         \
          "critical where less than a quarter of the bandwidth is left. It is a warning, too, "    \
          "where a link was better once in this place and its ends offer less now. Links that "    \
          "merely rest (graphics cards without work, sleeping devices) are not judged.",           \
          "Power off, reseat the device and any riser, adapter or cable, and clean the "           \
          "contacts. Check in the firmware setup how the lanes of the slot are split "             \
          "(bifurcation) and whether its speed is limited. If the fault stays with the slot "      \
          "when another device is put in, suspect the board; if it moves with the device, "        \
          "the device.",                                                                           \
          "10475c6009ff7f4eb08a58a651bde5af")                                                      \
        C(pcie_slot_limited, "pcie.slot_limited", "notice", 60, 300, "pci nvme",                   \
          "PCI Express slot offers less than the device could use",                                \
          "The link runs as well as its two ends can do together, but the slot (or the port "      \
          "that the device hangs on) has fewer lanes or is slower than the device could "          \
          "use. It is judged from what both ends say of their abilities. It is a notice, "         \
          "for it is a limit of the design and no fault: nothing is broken, and it does not "      \
          "get worse.",                                                                            \
          "Move the device to a slot with more or faster lanes if there is one; the finding "      \
          "names a free place that is known. If the place is good enough, accept the "             \
          "finding, or state the expected link in pnhwd.conf, which makes it mere "                \
          "information.",                                                                          \
          "79b21464147ca4cdc92de791ea1f56d2")                                                      \
        C(pcie_path_limited, "pcie.path_limited", "notice", 60, 300, "pci nvme",                   \
          "A link further up carries less than the device's own",                                  \
          "The device's own link is at its best, but a link between it and the processor, "        \
          "of a switch or a chipset, is slower than the device could use. It is judged from "      \
          "each link on the way. It is a notice, and mere information where the device is "        \
          "soldered to the board. A limiting link that has a finding of its own lists the "        \
          "device there instead.",                                                                 \
          "Move the device to a slot that hangs on the processor itself, or on a faster "          \
          "switch; the finding names a free place that is known. For what is built into the "      \
          "board there is nothing to do.",                                                         \
          "9dfc14b0d36699485921cb5812f0f9d2")                                                      \
        C(pcie_aer_rising, "pcie.aer_rising", "warning", 60, 300, "pci nvme",                      \
          "Corrected PCI Express errors are increasing",                                           \
          "The kernel counts the errors of a link (Advanced Error Reporting), and the "            \
          "number of those that were corrected has grown: a notice from 10 on, a warning "         \
          "from 1000 on. Corrected errors are repaired by sending again and cost only time. "      \
          "What is judged is their growth, not the total, since every link has some in its "       \
          "life. A marginal contact, riser or cable is by far the most frequent cause, and "       \
          "the other end of the link may be the one at fault.",                                    \
          "Power off, reseat the device and any riser, adapter or cable. If the errors go "        \
          "on, try the slot at one generation less in the firmware setup, or another slot, "       \
          "to learn whether the device or the place is at fault. `journalctl -k` names the "       \
          "kind of error.",                                                                        \
          "ebbb1820d67a86a9283637984ff96afe")                                                      \
        C(pcie_aer_fatal, "pcie.aer_fatal", "critical", 60, 300, "pci nvme",                       \
          "PCI Express errors that could not be corrected",                                        \
          "The number of uncorrectable errors that the kernel counts for this device has "         \
          "grown. After a fatal one, which is critical, the link itself could no longer be "       \
          "trusted and had to be reset; with one that is not fatal, a warning, only a "            \
          "transfer failed. Data that was on its way may be lost, and programs that used "         \
          "the device may have seen errors. It is judged from the growth of the counters, "        \
          "not from their totals.",                                                                \
          "Look at `journalctl -k` for what failed and whether the driver recovered. Power "       \
          "off and reseat the device, its riser and cables; update its firmware and that of "      \
          "the board. If it happens again, use another slot, and then another device.",            \
          "ae846b55a31670233ac74c1838343efd")                                                      \
        C(nvme_critical_warning, "nvme.critical_warning", "critical", 60, 300, "nvme health",      \
          "NVMe drive gives a critical warning",                                                   \
          "The drive itself sets a warning in its health log: it is not reliable any more, "       \
          "has turned read-only, or the backup of its memory has failed. Of its warnings "         \
          "about spare blocks and heat, only those are told here that no other finding "           \
          "tells with figures. It is critical, except for a temperature warning alone, and "       \
          "for a reliability warning of a drive that has used up its rated life while its "        \
          "spare blocks are above the limit and no media errors are added: these are "             \
          "warnings.",                                                                             \
          "Check that backups are good, and replace the drive now. Where it is only a "            \
          "warning: plan the replacement of a worn drive, and check the cooling of one that "      \
          "warns of its temperature.",                                                             \
          "24c8f6d6b89c04fa60927bbd6582aa60")                                                      \
        C(nvme_spare_low, "nvme.spare_low", "critical", 60, 300, "nvme health",                    \
          "NVMe drive runs out of spare blocks",                                                   \
          "The drive replaces blocks that fail by spare ones, and fewer of these are left "        \
          "than its maker allows. When none is left, it loses data or turns read-only. It "        \
          "is judged from the drive's own figure and the drive's own limit, and always "           \
          "critical. It says nothing of wear: a new drive with failing memory gets here, "         \
          "too.",                                                                                  \
          "Check that backups are good and replace the drive now, before its last spare "          \
          "blocks are gone.",                                                                      \
          "79e79c19192496dc3d4c9e5827592e77")                                                      \
        C(nvme_worn, "nvme.worn", "warning", 60, 300, "nvme health",                               \
          "NVMe drive has used up much of its rated life",                                         \
          "The part of its rated life that the drive says it has used has reached a limit "        \
          "of the policy: information from 80 % on, a warning from 100 % on, unless "              \
          "pnhwd.conf says otherwise. The figure is the maker's estimate from what was "           \
          "written. It is not a fault: many drives work on for long beyond 100 %. A drive "        \
          "that itself warns of being worn out is told as nvme.critical_warning instead.",         \
          "Plan the drive's replacement and watch its spare blocks and media errors. Look "        \
          "for what writes so much; a drive with a higher endurance may be the right one "         \
          "for it.",                                                                               \
          "8a375fce8e126da06c9f22e0445bc664")                                                      \
        C(nvme_media_errors_rising, "nvme.media_errors_rising", "warning", 60, 300, "nvme health", \
          "NVMe drive has media errors",                                                           \
          "The drive's count of media errors has grown: it could not read back what was "          \
          "written to it, or found that it had changed. That is a warning; errors that a "         \
          "drive brings along when it is first seen are a notice, which goes by itself. It "       \
          "is judged from growth, not from the total, so old errors that are known do not "        \
          "stay red for ever. The longer list of error log entries, in which refused "             \
          "commands count, is not judged.",                                                        \
          "Check the data: scrub the pool or array, or read the file system through, and "         \
          "restore what is lost. Check that backups are good. If the number grows again, "         \
          "replace the drive.",                                                                    \
          "c37280837cfe14cda275c29241decc2d")                                                      \
        C(nvme_hot, "nvme.hot", "critical", 60, 300, "nvme health", "NVMe drive is hot",           \
          "The drive's temperature is near or above its limit: information within 5 °C "          \
          "below its first limit, a warning from that limit on, critical from the second "         \
          "one on. The limits are the drive's own where they make sense, otherwise those of "      \
          "the policy. Above them it slows itself down, and in the end may switch itself "         \
          "off. A single reading far above all its own sensors is not believed until the "         \
          "next one says the same. It is a notice where the drive has counted minutes above a "    \
          "limit since, and where it says one temperature for days whatever it does.",             \
          "Check the airflow, the heat sink and its thermal pad, and the fans, and what the "      \
          "drive sits next to. A hot drive under a graphics card is often best moved to "          \
          "another slot.",                                                                         \
          "ece5b78c39dd2ce71c854e40fbde851f")                                                      \
        C(nvme_not_live, "nvme.not_live", "critical", 60, 300, "nvme pci",                         \
          "NVMe drive does not work",                                                              \
          "The drive is there, but the kernel cannot use it: its controller is in another "        \
          "state than `live`, or no driver runs it at all. A drive that the kernel has "           \
          "given up (state `dead`) is critical; one that is being reset or connected, or "         \
          "has no driver, is a warning. Drives that were passed through to a guest are not "       \
          "meant.",                                                                                \
          "A reset takes seconds: wait for it. If it stays like this, look at `journalctl "        \
          "-k` for the reason, save what can be saved, power the machine off and on, and "         \
          "reseat or replace the drive.",                                                          \
          "bc50a4fdcd60bf6b01587efbea6226fd")                                                      \
        C(nvme_lost, "nvme.lost", "critical", 10, 60, "nvme", "NVMe drive has disappeared",        \
          "A drive that was here is gone: the kernel lists it no longer. It failed, lost "         \
          "its power or its link, or somebody took it out. It is critical, for what lived "        \
          "on it is now without a copy, or without the drive altogether. It is never told "        \
          "because a reading failed: only a complete list of drives without it counts.",           \
          "If it was not taken out on purpose, look at `journalctl -k` for what the kernel "       \
          "said, check power and seating, and have a replacement at hand. Look after the "         \
          "pool or array that it belonged to.",                                                    \
          "686088685dd34fb51aec054d318ea3da")                                                      \
        C(disk_lost, "disk.lost", "critical", 10, 60, "block", "Disk has disappeared",             \
          "A disk (SATA, SAS, USB or virtual) that was here is gone: the kernel lists it no "      \
          "longer. It failed, lost its power or its cable, or somebody took it out. It is "        \
          "critical if something lived on it (a pool, an array, a file system), and a "            \
          "warning otherwise. It is never told because a reading failed: only a complete "         \
          "list of disks without it counts.",                                                      \
          "If it was taken out on purpose, accept the finding. Otherwise look at "                 \
          "`journalctl -k` for what the kernel said, check cable, backplane and power, and "       \
          "have a replacement at hand. Look after the pool or array that it belonged to.",         \
          "b86abe62b1f7107c93b2346e04f747b2")                                                      \
        C(nic_no_interface, "nic.no_interface", "warning", 60, 300, "pci net",                     \
          "Network port has no interface",                                                         \
          "A port of a network card is there as a PCI function, but no network interface "         \
          "belongs to it: no driver runs it, or the driver let it go. With some Intel cards "      \
          "the most likely reason is an SFP+ module that the driver does not accept, which "       \
          "it says in the kernel log alone. It is a warning, and a notice for adapters of "        \
          "other than the usual kinds. Ports that were passed through to a guest, moved to "       \
          "another network namespace, or carry InfiniBand are not meant.",                         \
          "`journalctl -k` with the port's address shows what the driver said. Put in a "          \
          "module that the card's maker lists, or a direct attach cable; or let the driver "       \
          "take any module, at your own risk. If no driver is loaded at all, install it and "      \
          "its firmware.",                                                                         \
          "133e57843725228bfe1fe44cc9b4f6a3")                                                      \
        C(nic_slow, "nic.slow", "warning", 120, 300, "net module",                                 \
          "Network port is slower than it could be",                                               \
          "The port runs below what it, its module and its partner are able to do. It is a "       \
          "warning where all that are known could do more together: then a setting, the "          \
          "cable or the partner's port is at fault, and the finding says which is likely. "        \
          "It is a warning, too, where the port was faster in the last 90 days, or has a link "    \
          "without a speed and had one with it. "                                                  \
          "It is mere information where module, cable or partner can do no more, or where "        \
          "the partner does not say what it can do. Ports without a link are not judged.",         \
          "Let both ends negotiate the speed. Replace the cable, clean or reseat the plugs, "      \
          "and try another port of the switch; gigabit and more need all four pairs. If the "      \
          "speed is meant, accept the finding.",                                                   \
          "bce994cb62df971f3aacf1b9c16d246f")                                                      \
        C(nic_half_duplex, "nic.half_duplex", "warning", 120, 300, "net",                          \
          "Network port runs at half duplex",                                                      \
          "The port cannot send and receive at once. Almost always one end negotiates and "        \
          "the other is set to full duplex: then frames collide and get lost under load, "         \
          "although all seems well when there is little traffic. It is a warning, and is "         \
          "judged from what the driver says of its own end.",                                      \
          "Let both ends negotiate, or set both to the same speed and duplex. A very old "         \
          "hub or switch that can do no more should be replaced.",                                 \
          "a1338b69392dee1b0db9dd3eeb0520f0")                                                      \
        C(nic_errors_rising, "nic.errors_rising", "warning", 60, 300, "net",                       \
          "Network port has new errors",                                                           \
          "The port's counters of damaged or failed frames have grown by 10 or more: a "           \
          "warning. It is judged from the growth since the values remembered, not from "           \
          "their totals. Damaged frames come from the cable, the plugs, a module or too "          \
          "little light; the traffic is sent again, so that users see only that it is slow. "      \
          "Frames that were dropped for want of a listener or of memory are no errors of "         \
          "the hardware and do not count.",                                                        \
          "Replace the cable or clean the fibre's plugs, reseat or replace the module, and "       \
          "try another port of the switch. Check that both ends agree on duplex and the "          \
          "size of frames. `ethtool -S` with the interface's name shows each counter, and "        \
          "the switch has its own.",                                                               \
          "c2d0794143ab6f519d8359f1c67f623c")                                                      \
        C(nic_pcie_short, "nic.pcie_short", "notice", 60, 300, "pci net",                          \
          "Network card gets too little from PCI Express",                                         \
          "What the ports of the card can do together is more than the card's link to the "        \
          "processor carries, counted for one direction. It matters only where all ports "         \
          "are busy at once. It is a notice and says nothing of a fault: the slot, or a "          \
          "link above it, is too slow for such a card.",                                           \
          "Move the card to a slot with more or faster lanes; `pnhwctl pcie` shows what "          \
          "each has. If the ports are never busy all at once, accept the finding.",                \
          "fe2519387f342eec9334e329437f1f65")                                                      \
        C(bond_degraded, "bond.degraded", "critical", 60, 300, "net", "Bond is degraded",          \
          "Members of the bond have a link and carry nothing all the same (with LACP: they "       \
          "have found no partner, are not in sync, or are in another aggregator), or none "        \
          "of its members has a link. It is a warning while some member still carries "            \
          "traffic, and critical when none does. It is judged from what the bonding driver "       \
          "says of each member, not from the links alone.",                                        \
          "Turn LACP on for all these ports of the switch, in one group; where they end on "       \
          "two switches, those must be stacked (MLAG, VPC). Members need the same speed and full " \
          "duplex to come together. Where no member has a link, check cables, modules and the "    \
          "switch.",                                                                               \
          "fa856086d886661469b2fb8ba93a4afe")                                                      \
        C(bond_member_down, "bond.member_down", "warning", 60, 300, "net",                         \
          "Member of a bond has no link",                                                          \
          "A bond works, but one of its members has no link, or is set down. It is a warning: "    \
          "there is less "                                                                         \
          "bandwidth or no spare any more, and the next failure may cut the machine off. "         \
          "Members that have a link and still carry nothing, and bonds without any link, "         \
          "are told as bond.degraded instead.",                                                    \
          "Check the cable, the module and the switch's port of this member; or take the "         \
          "interface out of the bond if it is not meant to be used.",                              \
          "ffe6ab89112369f22fb395883b655401")                                                      \
        C(module_unsupported, "module.unsupported", "warning", 60, 300, "net module",              \
          "Module is not supported",                                                               \
          "The driver of the port refuses the module or cable in it, which is a warning, "         \
          "since the port gets no link; or its memory is of a kind that pnhw cannot decode. "      \
          "That is mere information: it may work well, but nothing can be said of it. The "        \
          "first is judged from the reason that the driver gives for a link that is down.",        \
          "Where the driver refuses it, put in a module or cable that the card's maker "           \
          "lists, or have one coded for this card. Where it is only unknown, there is "            \
          "nothing to do.",                                                                        \
          "23235b33e2fdc3dd8b96710b9a4a1fbb")                                                      \
        C(module_unreadable, "module.unreadable", "notice", 60, 300, "net module",                 \
          "Module cannot be read",                                                                 \
          "A module is in the port, but its memory does not answer, so nothing is known of "       \
          "its kind, its light or its temperature. It is a notice: often a nuisance while "        \
          "traffic flows, but a module that is badly seated or failing shows like this, "          \
          "too. What the kernel forbids to read, or a driver cannot, is not meant.",               \
          "Reseat the module. If that does not help, try it in another port and another one "      \
          "in this, and replace what stays unreadable.",                                           \
          "22ed60cf8245e323e04c356bf3c4cbc4")                                                      \
        C(module_hot, "module.hot", "critical", 60, 300, "net module", "Module is hot",            \
          "The temperature that the module measures is above its warning limit, which is a "       \
          "warning, or its alarm limit, which is critical. Where a module has no limits of "       \
          "its own, 75 and 85 °C are taken; where they could not be read, nothing is told. "      \
          "Beyond the alarm limit many modules switch themselves off, which looks like a "         \
          "cable that was pulled.",                                                                \
          "Give the card a stream of air, leave the next cage free, and check the fans. "          \
          "10GBASE-T modules are the hottest: a direct attach cable does the same with a "         \
          "tenth of the heat.",                                                                    \
          "e9fe529575f13472efd033eef49bf3da")                                                      \
        C(module_power_low, "module.power_low", "warning", 60, 300, "net module",                  \
          "Too little light at a module",                                                          \
          "The module receives little light or none, or its own laser fails. Light below "         \
          "the module's warning limit is a notice and below its alarm limit a warning; so "        \
          "is a fibre that went dark after there was a link, and a laser below its alarm "         \
          "limit while there is a link. It is judged only for interfaces that are in use "         \
          "(set up), so spare modules may stay dark, and from the readings and limits of "         \
          "the module itself.",                                                                    \
          "Clean the plugs at both ends, and look for a fibre that is bent, broken, too "          \
          "long or of the wrong kind (single-mode against multi-mode). If it is dark, look "       \
          "at the other end. If the laser fails, replace the module.",                             \
          "6be449722b9ef0bf1052b39af804bfab")                                                      \
        C(module_alarm, "module.alarm", "warning", 60, 300, "net module",                          \
          "Module is beyond its limits",                                                           \
          "The module reports a fault of its transmitter, or one of its readings is beyond "       \
          "its own alarm limits: its voltage, too much light, or the current of its laser. "       \
          "It is a warning. It is judged from the readings as they are now; flags that tell "      \
          "of something long past are not used, other than that of a transmitter fault where "     \
          "there is no link or no light. "                                                         \
          "Heat and too little light have findings of their own.",                                 \
          "`pnhwctl show` with the interface's name has each reading and its limits. Too "         \
          "much light needs an attenuator or a module for shorter distances; a transmitter "       \
          "fault or a rising laser current a new module.",                                         \
          "235f7d1815859cc993273ebc6bcb4182")                                                      \
        C(sensor_hot, "sensor.hot", "critical", 60, 300, "sensors",                                \
          "Temperature sensor is above its limit",                                                 \
          "A temperature sensor of the board, a processor or a card measures more than its "       \
          "maximum, which is a warning, or than its critical limit, which is critical. The "       \
          "limits are those of the sensor's driver. Readings that cannot be true (inputs "         \
          "that are not connected) are left out, and NVMe drives have findings of their "          \
          "own.",                                                                                  \
          "Check fans, dust filters and heat sinks, and the temperature of the room. If the "      \
          "reading is wrong or its limit makes no sense for this board, correct it in "            \
          "/etc/sensors.d.",                                                                       \
          "ad5c2dd0e718874f61f7843290d38311")                                                      \
        C(sensor_alarm, "sensor.alarm", "warning", 60, 300, "sensors", "Sensor raises an alarm",   \
          "The monitoring chip itself raises an alarm for one of its readings, of a "              \
          "voltage, a fan or a temperature, that is not above a maximum as told by "               \
          "sensor.hot. It is a warning. Where limits were never set for a board, such "            \
          "alarms are often wrong; alarms of readings that cannot be true are left out.",          \
          "Compare the value with what it should be. If it is bad, check fans and power "          \
          "supply; if it is good, correct its limits in /etc/sensors.d.",                          \
          "832e172d31965a8a865ce1f45ea56560")                                                      \
        C(sensor_fan_stopped, "sensor.fan_stopped", "warning", 60, 300, "sensors",                 \
          "Fan has stopped",                                                                       \
          "A fan that was seen turning does not turn any more. It is a warning where a "           \
          "temperature of the same chip is high or rises, and mere information otherwise, "        \
          "since many fans rest while it is cool. It is judged against what this fan did "         \
          "earlier: a connector that never had a fan is not meant.",                               \
          "Look whether the fan is blocked or unplugged; clean or replace it. Watch the "          \
          "temperatures until then (`pnhwctl sensors`), and take load off the machine if "         \
          "they rise. A fan that is meant to rest needs nothing.",                                 \
          "a134aa01c6e6ad272ce6396029cbe898")                                                      \
        C(probe_stuck, "probe.stuck", "warning", 60, 300, "", "Device does not answer",            \
          "A device did not answer in time when it was read, or an earlier reading of it "         \
          "has not come back at all. It is a warning. What is shown of the device is what "        \
          "was known before, and it is left alone until the reading comes back, so that "          \
          "nothing else is disturbed. Other devices are read as always.",                          \
          "Look at `journalctl -k` for timeouts and resets of the device. One that hangs "         \
          "often needs a power cycle and may be failing: have a replacement at hand.",             \
          "b32cad64c018d90537cdea677175d34e")                                                      \
        C(probe_stale, "probe.stale", "warning", 60, 300, "",                                      \
          "Part of the hardware could not be read",                                                \
          "A source of the probe failed, or has brought nothing new for too long, so what "        \
          "is shown of this part of the hardware is missing or out of date. It is a warning "      \
          "about pnhw's own view, not about the hardware: while it lasts, findings that "          \
          "depend on this source are neither raised nor cleared.",                                 \
          "`journalctl -u pnhwd` says why, and `pnhwctl --once`, as root, reads everything anew; " \
          "a device that does not answer has a finding of its own. The probe's units "             \
          "(`journalctl -u 'pnhw-probe*'`) may tell more.",                                        \
          "517a3e39cd1fecc046ccd5fd57536aec")

typedef enum PnCode {
#define PN_CODE_ENUM(id, ...) PN_CODE_##id,
        PN_CODES(PN_CODE_ENUM)
#undef PN_CODE_ENUM
            PN_N_CODES,
} PnCode;

typedef struct PnCodeInfo {
        const char *name;       /* "pcie.degraded" */
        const char *worst;      /* the severest that such a finding can be */
        int raise_s, clear_s;   /* seconds */
        const char *sources;    /* names between blanks; empty: it is about the probe itself */
        const char *title;      /* a few words */
        const char *meaning;    /* a few sentences */
        const char *remedy;     /* what to do */
        const char *message_id; /* 32 hex digits, lower case */
} PnCodeInfo;

const PnCodeInfo *pn_code_info(PnCode code);

/* The code with this name; -EINVAL if there is none such, and for NULL. */
int pn_code_from_name(const char *name, PnCode *ret);
