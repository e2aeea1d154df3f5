import { CANDIDATES, isKnown, subcommands } from "../field.ts";
import type { Rule } from "../types.ts";

/** Tools whose first word decides between reading and destroying. */
const TOOLS =
	/^(git|gh|docker|podman|docker-compose|npm|pnpm|yarn|kubectl|helm|systemctl|service|launchctl|aws|gcloud|az|terraform|tofu|pulumi|cargo|gem|apt|apt-get|dnf|yum|brew|redis-cli|keryx|pm2|rclone)$/;

export const unseenRule: Rule = {
	name: "unseen",
	action: "run_command",
	look({ name, args }) {
		if (!TOOLS.test(name)) return null;
		const verbs = subcommands(args);
		const hidden =
			verbs.length === CANDIDATES || verbs.some(([verb]) => verb !== undefined && !isKnown(verb));
		return hidden ? { why: `gives ${name} an order that cannot be seen before it runs` } : null;
	},
};
