// The MCP servers that the agent uses: their connection, their tools, and who sees them.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { Button, Empty, ErrorLine, ErrorState, Marked, SkeletonRows } from "../../ui/index.ts";

type Server = Awaited<ReturnType<typeof api.mcpServers>>["servers"][number];

export function McpTab() {
	const { data, error, refetch } = useApi("mcpServers", {}, { on: ["config"] });
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-4 px-4 py-4 lg:px-6">
			<p className="max-w-160 text-ink-2">
				<Marked text={texts.mcpTab.about} />
			</p>
			{data.servers.length === 0 ? (
				<Empty title={texts.mcpTab.none}>{texts.mcpTab.hint}</Empty>
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
	const seen = server.profiles.map((profile) => profile || texts.mcpTab.default).join(", ");
	return (
		<section aria-label={server.name} className="flex flex-col gap-2 rounded-md border border-line p-4">
			<div className="flex flex-wrap items-center gap-x-3 gap-y-1">
				<h2 className="font-medium">{server.name}</h2>
				<span className="text-sm text-ink-2">{texts.mcpStates[server.state]}</span>
				<span className="ml-auto">
					<Button size="sm" disabled={isPending} onClick={() => mutate()}>
						{isPending ? texts.mcpTab.connecting : texts.mcpTab.retry}
					</Button>
				</span>
			</div>
			<p className="break-all font-mono text-xs text-ink-2">{server.address}</p>
			{server.why !== null && <p className="break-words text-sm">{server.why}</p>}
			{error && <ErrorLine error={error} />}
			<p className="text-sm text-ink-2">
				{texts.mcpTab.count(
					tools.length,
					server.roles.length === 0 || seen === ""
						? texts.mcpTab.nobody
						: texts.mcpTab.roles(server.roles.join(", "), seen),
				)}
			</p>
			{tools.length > 0 && (
				<details>
					<summary className="w-fit cursor-pointer rounded-xs text-sm text-ink-2">
						{texts.mcpTab.tools}
					</summary>
					<ul className="mt-2 flex flex-col gap-1">
						{tools.map(({ name, asks }) => (
							<li key={name} className="flex flex-wrap gap-x-2 text-sm">
								<code className="break-all font-mono text-xs">{name}</code>
								{asks && <span className="text-ink-2">{texts.mcpTab.asks}</span>}
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
