// The MCP servers that the agent uses: how each is connected, its tools, and who sees them.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, useApi } from "../../api/index.ts";
import { Button, Empty, ErrorLine, ErrorState, SkeletonRows } from "../../ui/index.ts";

type Server = Awaited<ReturnType<typeof api.mcpServers>>["servers"][number];

const STATES: Readonly<Record<Server["state"], string>> = {
	starting: "Starting",
	connected: "Connected",
	waiting: "Not connected, trying again soon",
	broken: "Not connected, trying again later",
	login: "Not logged in",
	stopped: "Stopped",
};

export function McpTab() {
	const { data, error, refetch } = useApi("mcpServers", {}, { on: ["config"] });
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-4 px-4 py-4 lg:px-6">
			<p className="max-w-160 text-ink-2">
				Your agent can use the tools of MCP servers. They are added under{" "}
				<code className="font-mono text-xs">mcp.servers</code> in config.yaml, or with{" "}
				<code className="font-mono text-xs">keryx mcp add</code>, and connected at once.
			</p>
			{data.servers.length === 0 ? (
				<Empty title="No MCP servers">Add one, and its tools show here.</Empty>
			) : (
				data.servers.map((server) => <ServerCard key={server.name} server={server} />)
			)}
		</div>
	);
}

function ServerCard({ server }: { readonly server: Server }) {
	const queries = useQueryClient();
	const { mutate, isPending, error } = useMutation({
		mutationFn: () => api.testMcpServer({ name: server.name }),
		onSettled: () => queries.invalidateQueries(),
	});
	const tools = server.tools.filter(({ used }) => used);
	const seen = server.profiles.map((profile) => profile || "default").join(", ");
	return (
		<section aria-label={server.name} className="flex flex-col gap-2 rounded-md border border-line p-4">
			<div className="flex flex-wrap items-center gap-x-3 gap-y-1">
				<h2 className="font-medium">{server.name}</h2>
				<span className="text-sm text-ink-2">{STATES[server.state]}</span>
				<span className="ml-auto">
					<Button size="sm" disabled={isPending} onClick={() => mutate()}>
						{isPending ? "Trying…" : "Try again"}
					</Button>
				</span>
			</div>
			<p className="break-all font-mono text-xs text-ink-2">{server.address}</p>
			{server.why !== null && <p className="break-words text-sm">{server.why}</p>}
			{error && <ErrorLine error={error} />}
			<p className="text-sm text-ink-2">
				{tools.length} {tools.length === 1 ? "tool" : "tools"}, visible to{" "}
				{server.roles.length === 0 || seen === "" ? "nobody" : `${server.roles.join(", ")} (${seen})`}
			</p>
			{tools.length > 0 && (
				<details>
					<summary className="w-fit cursor-pointer rounded-xs text-sm text-ink-2">Tools</summary>
					<ul className="mt-2 flex flex-col gap-1">
						{tools.map(({ name, asks }) => (
							<li key={name} className="flex flex-wrap gap-x-2 text-sm">
								<code className="break-all font-mono text-xs">{name}</code>
								{asks && <span className="text-ink-2">asks first</span>}
							</li>
						))}
						{server.prompts.map((prompt) => (
							<li key={prompt} className="break-all font-mono text-xs">
								{prompt}
							</li>
						))}
					</ul>
				</details>
			)}
			{server.remarks.map((remark) => (
				<p key={remark} className="text-sm">
					{remark}
				</p>
			))}
		</section>
	);
}
