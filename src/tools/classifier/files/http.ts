// The arguments of curl and wget: addresses, sent data, and files read and written.
import { plainField } from "../field.ts";
import { type ParsedWords, parsedWords } from "../options.ts";
import type { Field } from "../types.ts";

const CURL_VALUES: ReadonlySet<string> = new Set(
	`-A -b -c -C -d -D -e -E -F -h -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --request --data --data-ascii --data-binary
	--data-raw --data-urlencode --json --url-query --form --form-string --upload-file --output --output-dir --header --user-agent --cookie
	--cookie-jar --dump-header --config --cert --key --cacert --capath --netrc-file --trace --trace-ascii --etag-save --etag-compare --hsts
	--libcurl --max-time --connect-timeout --retry --retry-delay --retry-max-time --url --user --proxy --proxy-user --preproxy --socks5
	--socks5-hostname --write-out --unix-socket --abstract-unix-socket --resolve --connect-to --interface --range --referer --limit-rate
	--max-redirs --max-filesize --time-cond --oauth2-bearer --aws-sigv4 --ciphers --tls-max --stderr --quote --mail-from --mail-rcpt
	--doh-url --dns-servers --local-port --pinnedpubkey --cert-type --key-type --pass`.split(/\s+/),
);
const WGET_VALUES: ReadonlySet<string> = new Set(
	`-a -A -B -D -e -i -I -l -o -O -P -Q -R -t -T -U -w -X --output-document --directory-prefix --output-file --append-output --input-file
	--post-data --post-file --body-data --body-file --method --header --user --password --tries --timeout --wait --user-agent --config
	--load-cookies --save-cookies --certificate --private-key --ca-certificate --use-askpass --execute --base --level --limit-rate
	--accept --reject --domains --referer`.split(/\s+/),
);

export interface HttpWords {
	readonly addresses: readonly Field[];
	valuesOf(...options: readonly string[]): Field[];
}

export function curlWords(args: readonly Field[]): HttpWords {
	const words = parsedWords(args, CURL_VALUES);
	const http = lookup(words);
	return { ...http, addresses: [...words.operands, ...http.valuesOf("--url")] };
}

export function wgetWords(args: readonly Field[]): HttpWords {
	return lookup(parsedWords(args, WGET_VALUES));
}

function lookup({ operands, values }: ParsedWords): HttpWords {
	return {
		addresses: operands,
		valuesOf: (...options) =>
			values.filter(({ option }) => options.includes(option)).map(({ value }) => value),
	};
}

export const CURL_DATA = [
	"-d",
	"--data",
	"--data-ascii",
	"--data-binary",
	"--json",
	"--data-urlencode",
	"--url-query",
];

/** The files whose text curl sends; `-` is standard input. */
export function curlSends(words: HttpWords): Field[] {
	const plain = words.valuesOf(...CURL_DATA).flatMap((value) => {
		const at = /^[^=@]*@/.exec(value.text);
		return at ? [{ ...value, text: value.text.slice(at[0].length) }] : [];
	});
	const forms = words.valuesOf("-F", "--form").flatMap((value) => {
		const file = /=[@<]([^;,]*)/s.exec(value.text)?.[1];
		return file === undefined ? [] : [{ ...value, text: file }];
	});
	return [...plain, ...forms, ...words.valuesOf("-T", "--upload-file")];
}

export function wgetSends(words: HttpWords): Field[] {
	return words.valuesOf("--post-file", "--body-file");
}

export function curlReads(words: HttpWords): Field[] {
	const cookies = words.valuesOf("-b", "--cookie").filter(({ text }) => !text.includes("="));
	const local = words.addresses.filter(({ text }) => /^file:\/\//i.test(text));
	return [
		...words.valuesOf("-K", "--config", "-E", "--cert", "--key", "--cacert", "--netrc-file"),
		...cookies,
		...curlSends(words).filter(({ text }) => text !== "-" && text !== "."),
		...local.map((address) => ({ ...address, text: address.text.slice("file://".length) })),
	];
}

export function curlWrites(words: HttpWords, args: readonly Field[]): Field[] {
	const files = words
		.valuesOf(
			"-o",
			"--output",
			"-D",
			"--dump-header",
			"-c",
			"--cookie-jar",
			"--trace",
			"--trace-ascii",
			"--etag-save",
			"--hsts",
			"--libcurl",
			"--stderr",
		)
		.filter(({ text }) => text !== "-" && text !== "/dev/null");
	const remote = args.some(({ text }) => /^-[a-zA-Z]*O|^--remote-name/.test(text))
		? words.addresses.map(nameIn)
		: [];
	const [folder] = words.valuesOf("--output-dir");
	if (!folder) return [...files, ...remote];
	return [folder, ...[...files, ...remote].map((file) => ({ ...file, text: `${folder.text}/${file.text}` }))];
}

export function wgetWrites(words: HttpWords): Field[] {
	const given = words
		.valuesOf(
			"-O",
			"--output-document",
			"-P",
			"--directory-prefix",
			"-o",
			"--output-file",
			"-a",
			"--append-output",
			"--save-cookies",
		)
		.filter(({ text }) => text !== "-");
	return words.valuesOf("-O", "--output-document").length > 0
		? given
		: [...given, ...words.addresses.map(nameIn)];
}

export function wgetReads(words: HttpWords): Field[] {
	return words.valuesOf(
		"-i",
		"--input-file",
		"--post-file",
		"--body-file",
		"--load-cookies",
		"--config",
		"--certificate",
		"--private-key",
	);
}

/** The file that an address is saved as. */
function nameIn({ text }: Field): Field {
	return plainField(text.replace(/[?#].*$/s, "").replace(/^.*\//s, ""));
}

/** Any machine but this one; an unseen address counts as another machine. */
export function isElsewhere(address: string): boolean {
	const host = address.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").replace(/^[^/@]*@/, "");
	return !/^(localhost|127(\.\d{1,3}){1,3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|[\w-]+\.localhost)(?=[:/?#]|$)|^:\d/i.test(
		host,
	);
}
