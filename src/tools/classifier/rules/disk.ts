import { hasShort, operands } from "../field.ts";
import { writtenPaths } from "../targets.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

const TOOLS =
	/^(mkfs(\..+)?|mke2fs|newfs|mkswap|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|gparted|wipefs|blkdiscard|hdparm|badblocks|lvremove|vgremove|pvremove|lvreduce|mdadm|cryptsetup|zpool|zfs|btrfs|resize2fs|tune2fs|xfs_repair|fsck(\..+)?|e2fsck|diskutil|losetup|dmsetup|kpartx)$/;
const MOUNTS = /^(mount|umount|swapon|swapoff|pivot_root|fusermount3?|hdiutil)$/;
const DEVICE =
	/^\/dev\/(?!(null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx)$|(fd|pts|shm|tcp|udp)(\/|$)|tty)/;

export const diskRule: Rule = {
	name: "disk",
	action: "delete_data",
	look(invocation) {
		const { name, args } = invocation;
		if (TOOLS.test(name)) return { why: `changes disks or file systems with ${shownOperand(name)}` };
		if (MOUNTS.test(name) && (operands(args).length > 0 || hasShort(args, "a")))
			return { why: "attaches or detaches a file system", action: "run_command" };
		if (name === "dd" && args.some((arg) => /^of=/.test(arg.text) || arg.splits))
			return { why: `writes raw data: ${shownOperand(args.map((arg) => arg.text).join(" "))}` };
		const device = writtenPaths(invocation).find((path) => DEVICE.test(path.text));
		return device ? { why: `writes to a device: ${shownOperand(device.text)}` } : null;
	},
};
