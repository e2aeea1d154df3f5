// Commands that change permissions, owners, users, or kernel settings.
import { hasShort, operands } from "../options.ts";
import { shownOperand } from "../text.ts";
import type { Rule } from "../types.ts";

const TOOLS =
	/^(g?chmod|g?chown|g?chgrp|setfacl|setfattr|chattr|chflags|chcon|restorecon|setcap|usermod|useradd|adduser|userdel|deluser|groupadd|groupdel|groupmod|gpasswd|passwd|chpasswd|chage|chsh|chfn|newgrp|visudo|vipw|vigr|setenforce|semanage|aa-disable|icacls|dscl|sysadminctl|csrutil|spctl|security|pwck|newusers|update-alternatives|tccutil|nvram|pmset|scutil|systemsetup)$/;

export const permissionsRule: Rule = {
	class: "permissions",
	action: "modify_permissions",
	look({ name, args }) {
		if (TOOLS.test(name)) {
			const target = operands(args)
				.slice(-1)
				.map((arg) => shownOperand(arg.text))
				.join("");
			return { why: `changes permissions, owners or users: ${name} ${target}`.trimEnd() };
		}
		if (name === "sysctl" && (hasShort(args, "wp") || args.some((arg) => arg.text.includes("="))))
			return { why: "changes kernel settings" };
		if (/^(insmod|rmmod|modprobe|kextload)$/.test(name)) return { why: "loads or removes a kernel module" };
		return null;
	},
};
