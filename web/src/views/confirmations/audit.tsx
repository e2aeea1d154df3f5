import { useMutation } from "@tanstack/react-query";
import { ScrollText, ShieldAlert, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { texts } from "../../texts/confirmations.ts";
import {
	Badge,
	Button,
	type Column,
	CopyButton,
	Empty,
	ErrorLine,
	ErrorState,
	Marked,
	PlainText,
	RelativeTime,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";
import { type AuditEntry, useAudit, type Verified, verifyAudit } from "./wire.ts";
import { entryWords, useWho } from "./words.ts";

const PAGE = 50;
/** The server's limit for one read. */
const MOST = 500;

export function Audit({ onOpen }: { readonly onOpen: (id: string) => void }) {
	const [count, setCount] = useState(PAGE);
	const { data, error, refetch, isPending } = useAudit(count);
	const whoOf = useWho();
	if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
	if (isPending) return <SkeletonRows />;
	const oldest = data?.at(-1)?.n ?? 1;
	return (
		<>
			<Chain />
			{!data || data.length === 0 ? (
				<Empty icon={<ScrollText size={24} />} title={texts.audit.theAuditIsEmpty}>
					{texts.audit.everyQuestionAnswerAndRefused}
				</Empty>
			) : (
				<Table label={texts.audit.audit} columns={columns(onOpen, whoOf)} rows={data} rowKey={({ n }) => n} />
			)}
			{oldest > 1 && (
				<div className="flex justify-center p-4">
					{count < MOST ? (
						<Button onClick={() => setCount(Math.min(MOST, count * 2))}>{texts.audit.showEarlier}</Button>
					) : (
						<p className="text-sm text-ink-2">
							<Marked text={texts.audit.keryxConfirmAuditShowsThe} />
						</p>
					)}
				</div>
			)}
		</>
	);
}

function columns(
	onOpen: (id: string) => void,
	whoOf: (who: string) => string,
): readonly Column<AuditEntry>[] {
	return [
		{
			name: texts.audit.what,
			cell: ({ kind }) => {
				const { name, tone } = entryWords(kind);
				return <Badge tone={tone}>{name}</Badge>;
			},
		},
		{
			name: texts.audit.no,
			align: "right",
			wideOnly: true,
			cell: ({ n }) => <span className="text-ink-3">{n}</span>,
		},
		{
			name: texts.audit.about,
			cell: ({ confirmation, facts, who }) => (
				<div className="py-1.5">
					{typeof (facts.action ?? facts.token ?? facts.grant) === "string" && (
						<span className="block font-mono text-sm wrap-anywhere">
							{String(facts.action ?? facts.token ?? facts.grant)}
						</span>
					)}
					{confirmation !== null && (
						<button
							type="button"
							onClick={() => onOpen(confirmation)}
							className="font-mono text-xs text-ink-2 underline decoration-line-strong underline-offset-2 hover:text-accent"
						>
							{confirmation}
						</button>
					)}
					<span className="block text-sm text-ink-2 md:hidden">{texts.audit.by(whoOf(who))}</span>
					{typeof facts.attempt === "string" && <span className="block text-sm">{facts.attempt}</span>}
					{typeof facts.reason === "string" && (
						<span className="block text-sm text-ink-2 wrap-anywhere">
							<PlainText text={facts.reason} />
						</span>
					)}
				</div>
			),
		},
		{
			name: texts.audit.who,
			wideOnly: true,
			cell: ({ who }) => <span className="wrap-anywhere">{whoOf(who)}</span>,
		},
		{ name: texts.audit.from, wideOnly: true, cell: ({ via }) => <span className="text-ink-2">{via}</span> },
		{
			name: texts.audit.when,
			align: "right",
			cell: ({ at }) => <RelativeTime at={at * 1000} className="whitespace-nowrap text-ink-2" />,
		},
	];
}

/** The chain is verified on request. Until then the page claims nothing. */
function Chain() {
	const verifying = useMutation({ mutationFn: verifyAudit });
	return (
		<section
			aria-label={texts.audit.chain}
			className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b px-4 py-3 lg:px-6"
		>
			<div role="status" className="min-w-60 flex-1">
				{verifying.data ? (
					<Found verified={verifying.data} />
				) : (
					<p className="max-w-prose text-ink-2">{texts.audit.eachEntryCarriesACode}</p>
				)}
				{verifying.isError && <ErrorLine error={verifying.error} />}
			</div>
			<Button disabled={verifying.isPending} onClick={() => verifying.mutate()}>
				{verifying.isPending
					? texts.audit.verifying
					: verifying.data
						? texts.audit.verifyAgain
						: texts.audit.verifyTheChain}
			</Button>
		</section>
	);
}

function Found({ verified: { ok, count, head, bad } }: { readonly verified: Verified }) {
	const entry = bad?.n ?? count + 1;
	const problem = bad?.problem ?? texts.audit.itCannotBeVerified;
	if (!ok)
		return (
			<div className="flex gap-2.5">
				<ShieldAlert size={18} aria-hidden className="mt-px shrink-0 text-danger" />
				<div>
					<p className="font-medium text-danger">{texts.audit.theChainIsBrokenAt(entry, problem)}</p>
					<p className="max-w-prose text-ink-2">{texts.audit.theEntriesBeforeItAre(count)}</p>
				</div>
			</div>
		);
	return (
		<div className="flex gap-2.5">
			<ShieldCheck size={18} aria-hidden className="mt-px shrink-0 text-ok" />
			<div className="min-w-0">
				<p className="font-medium">
					{count === 1 ? texts.audit.theChainIsIntact1 : texts.audit.theChainIsIntactEntries(count)}
				</p>
				<p className="max-w-prose text-ink-2">{texts.audit.nothingWasChangedOrRemoved}</p>
				<p className="flex min-w-0 items-center gap-1">
					<code className="truncate font-mono text-xs text-ink-2">{head}</code>
					<CopyButton text={head} label={texts.audit.copyTheHead} />
				</p>
			</div>
		</div>
	);
}
