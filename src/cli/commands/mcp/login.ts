// `keryx mcp login`: a person logs in at a server, in a browser on this machine. The browser returns to a temporary port of this command.
// The tokens are stored in a file that only this user can read.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openHome } from "../../../app/home.ts";
import { loginFiles } from "../../../app/mcp.ts";
import { keryxHome } from "../../../config/index.ts";
import { KeryxError } from "../../../errors.ts";
import { loginOf } from "../../../tools/index.ts";
import { running } from "../../connect.ts";
import { type CliContext, openConfig } from "../../context.ts";
import { texts } from "../../texts.ts";

export async function login(context: CliContext, name: string): Promise<void> {
	const { config, output } = openConfig(context);
	const url = config.values.mcp.servers[name]?.url;
	if (url === undefined)
		throw new KeryxError("argument.invalid", texts.mcp.login.notHttp(name), { field: "name" });
	const { path: home } = openHome(keryxHome(context.env));
	const { auth } = await import("@modelcontextprotocol/client");
	const back = await listen();
	try {
		const files = loginFiles(home);
		// Always new: an earlier registration returns to another port.
		files.writeLogin(name, "{}");
		const provider = loginOf(
			name,
			{ ...files, secrets: config.secrets },
			{
				redirectUrl: back.url,
				open: ({ href }) => {
					output.line(texts.mcp.login.open);
					output.line(href);
				},
			},
		);
		if ((await auth(provider, { serverUrl: url })) === "AUTHORIZED")
			return output.line(texts.mcp.login.notNeeded(name));
		const { code, iss } = await back.code;
		await auth(provider, { serverUrl: url, authorizationCode: code, ...(iss !== null && { iss }) });
	} finally {
		back.close();
	}
	await (await running(context))?.testMcpServer({ name });
	if (output.json) return output.value({ name, logged_in: true });
	output.line(texts.mcp.login.done(name));
}

interface Back {
	readonly url: string;
	readonly code: Promise<{ readonly code: string; readonly iss: string | null }>;
	close(): void;
}

async function listen(): Promise<Back> {
	const { promise: code, resolve, reject } = Promise.withResolvers<{ code: string; iss: string | null }>();
	// Nobody waits for it if the login ends before.
	code.catch(() => undefined);
	const server = createServer((request, answer) => {
		const { pathname, searchParams: given } = new URL(request.url ?? "/", "http://127.0.0.1");
		if (pathname !== "/callback") return void answer.writeHead(404).end();
		const found = given.get("code");
		answer.writeHead(found === null ? 400 : 200, { "content-type": "text/plain; charset=utf-8" });
		const why = given.get("error_description") ?? given.get("error") ?? "";
		answer.end(found === null ? texts.mcp.login.refused(why) : texts.mcp.login.page);
		if (found !== null) resolve({ code: found, iss: given.get("iss") });
		else reject(new KeryxError("http.forbidden", texts.mcp.login.refused(why)));
	});
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/callback`,
		code,
		close: () => {
			server.close();
			server.closeAllConnections();
		},
	};
}
