// A look for traces of a secret that knows nothing of how it is hidden: it decodes whatever looks encoded, some layers deep, and looks
// for the secret itself. Texts are bytes here, one character for each.

/** Eight ways to write a secret down, and then some. */
export function formsOf(secret: string): Readonly<Record<string, string>> {
	const bytes = Buffer.from(secret);
	const json = (text: string) => JSON.stringify(text).slice(1, -1);
	return {
		plain: secret,
		"upper case": secret.toUpperCase(),
		"lower case": secret.toLowerCase(),
		base64: bytes.toString("base64"),
		"base64 inside": Buffer.from(`user:${secret}:rest`).toString("base64"),
		base64url: bytes.toString("base64url"),
		URL: encodeURIComponent(secret),
		JSON: json(secret),
		"JSON in JSON": json(json(secret)),
		hex: bytes.toString("hex").toUpperCase(),
		lines: `${secret.slice(0, 9)}\n${secret.slice(9)}`,
		"base64 in lines": bytes.toString("base64").replace(/.{9}(?=.)/g, "$&\r\n"),
	};
}

/** Whether any of the secrets stands in the bytes, in whatever form. Answers a bit of what is around it, or null. */
export function traceOf(secrets: readonly string[], given: string | Uint8Array): string | null {
	const cased = secrets.flatMap((secret) => [secret, secret.toUpperCase(), secret.toLowerCase()]);
	const wanted = cased.map((secret) => plain(Buffer.from(secret).toString("latin1")));
	for (const text of readings(Buffer.from(given as string).toString("latin1"))) {
		const flat = plain(text);
		for (const want of wanted) {
			const at = flat.indexOf(want);
			if (at >= 0) return flat.slice(Math.max(0, at - 60), at + want.length + 20);
		}
	}
	return null;
}

/** Each text that may be in it: escaped up to three times, or in a URL, and in any of these in base64 or hex, or escaped there. */
function* readings(text: string): Generator<string> {
	let escaped = text;
	for (let depth = 0; depth < 4; depth++) {
		for (const view of new Set([escaped, percentDecoded(escaped)])) {
			yield view;
			const runs = [
				...decoded(view, /(?:[A-Za-z0-9+/_-][\r\n]*){10,}/g, base64Readings),
				...decoded(view, /(?:[0-9a-fA-F][\r\n]*){12,}/g, hexReadings),
			];
			for (const run of runs) yield* [run, unescaped(run)];
		}
		const next = unescaped(escaped);
		if (next === escaped) return;
		escaped = next;
	}
}

/** Without line breaks, and in one case. */
function plain(text: string): string {
	return text.replace(/[\r\n]+/g, "").toLowerCase();
}

/** All of a kind that stand in a text, decoded, as one text. */
function decoded(text: string, runs: RegExp, readings: (run: string) => string[]): string[] {
	const found = [...text.matchAll(runs)].flatMap(([run]) => readings(run.replace(/[\r\n]+/g, "")));
	return found.length > 0 ? [found.join("\0")] : [];
}

/** It may begin anywhere within a group. */
function base64Readings(run: string): string[] {
	const standard = run.replaceAll("-", "+").replaceAll("_", "/");
	return [0, 1, 2, 3].map((skip) => Buffer.from(standard.slice(skip), "base64").toString("latin1"));
}

function hexReadings(run: string): string[] {
	return [0, 1].map((skip) => Buffer.from(run.slice(skip), "hex").toString("latin1"));
}

function percentDecoded(text: string): string {
	return text.replace(/%([0-9a-f]{2})/gi, (_, code: string) =>
		String.fromCharCode(Number.parseInt(code, 16)),
	);
}

/** One layer of the escapes of JSON. */
function unescaped(text: string): string {
	return text.replace(
		/\\(?:u([0-9a-f]{4})|(.))/gis,
		(_, code: string | undefined, one: string | undefined) => {
			if (code !== undefined)
				return Buffer.from(String.fromCharCode(Number.parseInt(code, 16))).toString("latin1");
			return (
				({ n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" } as Record<string, string>)[one as string] ??
				(one as string)
			);
		},
	);
}
