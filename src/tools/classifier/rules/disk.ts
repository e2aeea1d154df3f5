// Commands that change disks, file systems and mounts, touch raw devices, or fill the disk.
import { fileUse } from "../files/use.ts";
import { hasShort, operands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Invocation, Rule } from "../types.ts";

const TOOLS =
	/^(mkfs(\..+)?|mke2fs|newfs|mkswap|fdisk|sfdisk|cfdisk|gdisk|sgdisk|parted|gparted|wipefs|blkdiscard|hdparm|sdparm|nvme|badblocks|lvremove|vgremove|pvremove|lvreduce|mdadm|cryptsetup|zpool|zfs|btrfs|resize2fs|tune2fs|xfs_repair|fsck(\..+)?|e2fsck|diskutil|losetup|dmsetup|kpartx)$/;
const MOUNTS = /^(mount|umount|swapon|swapoff|pivot_root|fusermount3?|hdiutil|sshfs|bindfs|unionfs)$/;
const DEVICE =
	/^\/dev\/(?!(null|zero|full|random|urandom|stdin|stdout|stderr|tty|ptmx)$|(fd|pts|shm|tcp|udp)(\/|$)|tty)/;
const ENDLESS = /^\/dev\/(zero|urandom|random|full)$/;
/** More than a file of a project ever has. */
const HUGE = /^\d+[TPE]i?B?$|^\d{4,}Gi?B?$|^\d{14,}$/i;

export const diskRule: Rule = {
	class: "disk",
	action: "delete_data",
	look(invocation) {
		const { name, args } = invocation;
		if (TOOLS.test(name)) return { why: `changes disks or file systems with ${shownOperand(name)}` };
		if (MOUNTS.test(name) && (operands(args).length > 0 || hasShort(args, "a")))
			return { why: "attaches or detaches a file system", action: "run_command" };
		if (name === "dd" && args.some((arg) => /^of=/.test(arg.text) || arg.splits))
			return { why: `writes raw data: ${shownOperand(args.map((arg) => arg.text).join(" "))}` };
		const { writes, reads } = fileUse(invocation);
		const device = writes.find((path) => DEVICE.test(path.text));
		if (device) return { why: `writes to a device: ${shownOperand(device.text)}` };
		const raw = reads.find((path) => DEVICE.test(path.text));
		if (raw) return { why: `reads a device: ${shownOperand(raw.text)}`, action: "run_command" };
		return fills(invocation) ? { why: "fills the disk", action: "run_command" } : null;
	},
};

function fills(invocation: Invocation): boolean {
	const { name, args, redirections } = invocation;
	const { reads, writes } = fileUse(invocation);
	const kept = writes.some(({ text }) => !text.startsWith("/dev/"));
	if (kept && /^(cat|cp|tee|yes)$/.test(name)) {
		if (name === "yes" && redirections.length > 0) return true;
		if (reads.some(({ text }) => ENDLESS.test(text))) return true;
	}
	return (
		/^(truncate|fallocate)$/.test(name) &&
		args.some(({ text }) => HUGE.test(text.replace(/^(-[sl]|--\w+=)/, "")))
	);
}
