// Small pages written by the server: without scripts, with one style, and nothing external.
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html, raw } from "hono/html";

export type Html = ReturnType<typeof html>;

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); --soft: color-mix(in srgb, currentColor 7%, transparent) }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1rem 4rem; font: 1rem/1.55 system-ui, sans-serif }
h1 { font-size: 1.6rem } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem }
h3 { margin-top: 2.2rem; font-size: 1rem; overflow-wrap: anywhere }
h4 { margin: 1rem 0 .3rem; font-size: .85rem; font-weight: 600; opacity: .75 }
code, pre { font: .86rem/1.5 ui-monospace, monospace } pre { overflow-x: auto; padding: .7rem .9rem; background: var(--soft); border-radius: .4rem }
table { border-collapse: collapse; width: 100% } td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-top: 1px solid var(--line); overflow-wrap: break-word }
td:first-child { white-space: nowrap }
nav ul { columns: 14rem; padding-left: 1.1rem } details { margin: .4rem 0 } summary { cursor: pointer }
.method { display: inline-block; min-width: 3.4rem; font-weight: 700 } .scroll { overflow-x: auto }
`;

/** The one style is allowed by its digest: a browser ignores anything else. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Interpolated values are escaped, unless they are HTML from here. */
export async function htmlPage(
	c: Context,
	{ title, body, status = 200 }: { readonly title: string; readonly body: Html; readonly status?: 200 | 401 },
): Promise<Response> {
	const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`;
	return c.html(text, status, { "content-security-policy": POLICY });
}
