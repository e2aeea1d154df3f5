import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { Answer } from "../../../../src/http/endpoints.ts";
import { api, useApi } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import {
	Badge,
	Button,
	type Column,
	Dialog,
	ErrorLine,
	ErrorState,
	RelativeTime,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";
import { CreateToken } from "./create-token.tsx";

type Token = Answer<"tokens">["tokens"][number];

/** The programs and browsers that may call Keryx. */
export function TokensTab() {
	const [creating, setCreating] = useState(false);
	const [revoking, setRevoking] = useState<Token | null>(null);
	const { data, error, refetch } = useApi("tokens", {}, { on: ["token"] });
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows />;
	const columns: Column<Token>[] = [
		{ name: texts.tokensTab.name, cell: (token) => <TokenName token={token} /> },
		{
			name: texts.tokensTab.role,
			cell: ({ role }) => <Badge tone={role === "operator" ? "accent" : "neutral"}>{role}</Badge>,
		},
		{
			name: texts.tokensTab.created,
			cell: ({ created_at }) => <RelativeTime at={created_at} />,
			wideOnly: true,
		},
		{ name: texts.tokensTab.by, cell: ({ created_by }) => created_by, wideOnly: true },
		{ name: texts.tokensTab.expires, cell: (token) => <End token={token} /> },
		{
			name: texts.tokensTab.revoke,
			align: "right",
			cell: (token) =>
				hasEnded(token) ? null : (
					<Button size="sm" look="danger" onClick={() => setRevoking(token)}>
						{texts.tokensTab.revoke}
						<span className="sr-only"> {token.name}</span>
					</Button>
				),
		},
	];
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-3 px-4 py-4 lg:px-6">
			<div className="flex flex-wrap items-center gap-3">
				<p className="min-w-0 flex-1 basis-80 text-ink-2">{texts.tokensTab.aProgramNeedsAToken}</p>
				<Button look="primary" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
					{texts.tokensTab.newToken}
				</Button>
			</div>
			<div className="-mx-4 lg:mx-0 lg:rounded-md lg:border">
				<Table
					label={texts.tokensTab.tokens}
					columns={columns}
					rows={[...data.tokens].sort(liveFirst)}
					rowKey={({ name }) => name}
				/>
			</div>
			{creating && <CreateToken onClose={() => setCreating(false)} />}
			{revoking && <Revoke token={revoking} onClose={() => setRevoking(null)} />}
		</div>
	);
}

function TokenName({ token }: { readonly token: Token }) {
	return (
		<span className="flex flex-col py-1">
			<span className={hasEnded(token) ? "font-mono text-xs text-ink-3 line-through" : "font-mono text-xs"}>
				{token.name}
			</span>
			{isBrowser(token) && <span className="text-xs text-ink-3">{texts.tokensTab.aBrowser}</span>}
			{token.session_key !== null && (
				<span className="text-xs break-all text-ink-3">{texts.tokensTab.only(token.session_key)}</span>
			)}
		</span>
	);
}

function End({ token: { revoked_at, expires_at } }: { readonly token: Token }) {
	if (revoked_at !== null) return <span className="text-ink-3">{texts.tokensTab.revoked}</span>;
	if (expires_at === null) return <>{texts.tokensTab.never}</>;
	const at = Date.parse(expires_at);
	return (
		<time dateTime={expires_at} title={expires_at} className="whitespace-nowrap">
			{at <= Date.now() ? texts.tokensTab.expired : ""}
			{day.format(at)}
		</time>
	);
}

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

function Revoke({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
	const { mutate, isPending, error } = useMutation({
		mutationFn: () => api.revokeToken({ name: token.name }),
		onSuccess: onClose,
	});
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={texts.tokensTab.revoke2(token.name)}
			about={isBrowser(token) ? texts.tokensTab.thisLogsOutTheBrowser : texts.tokensTab.programsThatUseItLose}
			actions={
				<>
					<Button onClick={onClose}>{texts.tokensTab.keepIt}</Button>
					<Button look="danger" disabled={isPending} onClick={() => mutate()}>
						{texts.tokensTab.revokeIt}
					</Button>
				</>
			}
		>
			{error ? (
				<ErrorLine error={error} />
			) : (
				<p className="text-ink-2">{texts.tokensTab.theNameCannotBeUsed}</p>
			)}
		</Dialog>
	);
}

function isBrowser({ name }: Token): boolean {
	return name.startsWith("page-");
}

function hasEnded({ revoked_at, expires_at }: Token): boolean {
	return revoked_at !== null || (expires_at !== null && Date.parse(expires_at) <= Date.now());
}

/** Valid tokens first, programs before browsers, newest first. */
function liveFirst(a: Token, b: Token): number {
	const rank = (token: Token) => 2 * Number(hasEnded(token)) + Number(isBrowser(token));
	return rank(a) - rank(b) || b.created_at.localeCompare(a.created_at);
}
