// Long-term checks: log, retention, logins to the page, proxy.
import { chmodSync, readdirSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { basename, dirname, join } from "node:path";
import { gatewayLogPath } from "../../../app/report/journal.ts";
import type { Config } from "../../../config/index.ts";
import { OPERATOR, type Store } from "../../../store/index.ts";
import { bytesInWords, counted } from "../../io/words.ts";
import { texts } from "../../texts.ts";
import { type Finding, fine, fixed, remark, wrong } from "./finding.ts";

const FOR_OTHERS = 0o077;
const words = texts.doctor;

/** The log and its older files. */
export function lookAtLog(home: string, config: Pick<Config, "log">, fix: boolean): Finding {
	const path = gatewayLogPath(home);
	const folder = dirname(path);
	const files = statSync(folder, { throwIfNoEntry: false })?.isDirectory()
		? readdirSync(folder)
				.filter((name) => name.startsWith(basename(path)))
				.map((name) => join(folder, name))
		: [];
	if (files.length === 0) return fine("log", words.log.none);
	const stats = files.map((file) => ({ file, ...sizeAndMode(file) }));
	const open = stats.filter(({ mode }) => (mode & FOR_OTHERS) !== 0).map(({ file }) => file);
	if (open.length > 0) {
		const names = open.join(", ");
		if (!fix) return wrong("log", words.files.open(names), words.files.openRemedy, words.files.mends(names));
		for (const file of open) chmodSync(file, 0o600);
		return fixed("log", words.files.fixed(names));
	}
	const size = bytesInWords(stats.reduce((sum, one) => sum + one.size, 0));
	const found = words.log.fine(path, counted(files.length, "file"), size, config.log.level);
	return config.log.level === "debug" ? remark("log", found, words.log.debugRemedy) : fine("log", found);
}

function sizeAndMode(file: string): { readonly size: number; readonly mode: number } {
	const { size = 0, mode = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
	return { size, mode };
}

export function lookAtRetention({ retention: { days } }: Pick<Config, "retention">): Finding {
	return fine("retention", days === 0 ? words.retention.off : words.retention.on(days));
}

/** Expired logins: their owners may wonder. */
export async function lookAtLogins(store: Store, now: number): Promise<Finding> {
	const people = (await store.logins({ scope: OPERATOR, limit: 1000 })).map((one) => ({
		...one,
		who: one.person.name,
	}));
	const operators = (await store.tokens({ scope: OPERATOR }))
		.filter(({ name, role }) => role === "operator" && name.startsWith("page-"))
		.map((one) => ({ ...one, who: "operator" }));
	const open = [...people, ...operators].filter(({ revokedAt }) => revokedAt === null);
	const isOver = ({ expiresAt }: { readonly expiresAt: number | null }) =>
		expiresAt !== null && expiresAt <= now;
	const valid = open.filter((login) => !isOver(login));
	const back = new Set(valid.map(({ who }) => who));
	const gone = new Set(
		open
			.filter(isOver)
			.map(({ who }) => who)
			.filter((who) => !back.has(who)),
	);
	const found = words.logins.fine(
		counted(valid.length, "valid login"),
		counted(back.size, "person", "people"),
	);
	return gone.size === 0
		? fine("logins", found)
		: remark("logins", words.logins.expired(found, [...gone].join(", ")), words.logins.remedy);
}

/** Whether the public address matches how requests arrive. */
export function lookAtProxy({ http }: Pick<Config, "http">): Finding {
	const { public_url: url, trusted_proxies: proxies, host } = http;
	const everybody = proxies.find((one) => one.endsWith("/0"));
	if (everybody !== undefined)
		return wrong("proxy", words.proxy.everybody(everybody), words.proxy.everybodyRemedy);
	if (url === undefined) {
		if (proxies.length > 0) return remark("proxy", words.proxy.unused, words.proxy.unusedRemedy);
		return isLoopback(host)
			? fine("proxy", words.proxy.none)
			: remark("proxy", words.proxy.open(host), words.proxy.openRemedy);
	}
	if (new URL(url).protocol !== "https:" && !isLoopback(new URL(url).hostname))
		return remark("proxy", words.proxy.plain(url), words.proxy.openRemedy);
	return proxies.length === 0
		? remark("proxy", words.proxy.untrusted(url), words.proxy.untrustedRemedy)
		: fine("proxy", words.proxy.fine(url, proxies.join(", ")));
}

function isLoopback(host: string): boolean {
	const name = host.replace(/^\[|\]$/g, "");
	return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."));
}
