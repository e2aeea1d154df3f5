// Hosts in a configuration: `example.org`, `*.example.org`, or either with a port. Names are compared literally: allowing a host that
// forwards to others allows those, too.

export interface Destination {
	readonly host: string;
	readonly port: number;
}

const USUAL_PORTS: readonly number[] = [80, 443];
const MOST_PORT = 65_535;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

export interface HostRule {
	readonly name: string;
	readonly isBelow: boolean;
	readonly ports: readonly number[];
}

/** Null if it is not such a name. An address is not: it does not say who is there. */
export function readHostRule(text: string): HostRule | null {
	const [, wild, name = "", port] = /^(\*\.)?([^:*/\s]+?)\.?(?::(\d{1,5}))?$/.exec(text.toLowerCase()) ?? [];
	const labels = name.split(".");
	const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? "");
	if (!isName || name.length > 253) return null;
	const ports = port === undefined ? USUAL_PORTS : [Number(port)];
	if (ports.some((one) => one < 1 || one > MOST_PORT)) return null;
	return { name, isBelow: wild !== undefined, ports };
}

/** Whether one of the rules names it. `*.example.org` does not name example.org itself. */
export function isHostAllowed({ host, port }: Destination, rules: readonly HostRule[]): boolean {
	const name = host.toLowerCase().replace(/\.$/, "");
	return rules.some(
		(rule) =>
			rule.ports.includes(port) && (rule.isBelow ? name.endsWith(`.${rule.name}`) : name === rule.name),
	);
}
