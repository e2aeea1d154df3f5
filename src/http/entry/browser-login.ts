// GET /login: a link that logs a browser in, once.
import type { Context } from "hono";
import { setCookie } from "hono/cookie";
import { html } from "hono/html";
import { KeryxError } from "../../errors.ts";
import type { AppEnvironment } from "../environment.ts";
import { type Access, cookieName, isSecure } from "./auth.ts";
import type { Rates } from "./guards.ts";
import { htmlPage } from "./html.ts";
import { acceptsHtml } from "./page.ts";

export async function logInBrowser(
	c: Context<AppEnvironment>,
	access: Access,
	rates: Rates,
): Promise<Response> {
	const { entrance } = c.env;
	if (entrance.kind !== "port" || c.req.method !== "GET")
		throw new KeryxError("http.no_route", `there is no ${c.req.method} /login`);
	if (isSecure(entrance) && c.req.header("sec-fetch-mode") !== "navigate") return notABrowser(c);
	const done = await access.login(c.req.query("code") ?? "", entrance).catch((error: unknown) => {
		rates.assertStranger(c);
		if (error instanceof KeryxError && error.code === "http.login" && acceptsHtml(c)) return error;
		throw error;
	});
	if (done instanceof KeryxError) return notLoggedIn(c, done);
	const { secret, key, maxAge } = done;
	const secure = isSecure(entrance);
	setCookie(c, cookieName(entrance), secret, {
		maxAge,
		httpOnly: true,
		sameSite: "Strict",
		secure,
		path: "/",
	});
	// After the hash: a browser does not send it on, and the page removes it.
	return c.redirect(`/#login=${key}`, 303);
}

/**
 * Chats fetch the links in messages to show a preview, which must not use up the link. Every browser that the page supports says over TLS
 * that it follows a link.
 */
function notABrowser(c: Context): Promise<Response> {
	const body = html`<h1>Log in to Keryx</h1>
<p>Open this link in a browser. It works once.</p>`;
	return htmlPage(c, { title: "Log in to Keryx", body, status: 200 });
}

function notLoggedIn(c: Context, { message }: KeryxError): Promise<Response> {
	const body = html`<h1>You are not logged in</h1>
<p>No browser was logged in: ${message}.</p>
<p>A login link works once, within ten minutes. Make another one where Keryx runs, and open it in this browser:</p>
<pre>keryx link</pre>
<p>If this browser is logged in already, <a href="/">go on to the page</a>.</p>`;
	return htmlPage(c, { title: "Not logged in: Keryx", body, status: 401 });
}
