import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { queryClient } from "../../api/index.ts";
import { useNow } from "../../lib/time.ts";
import { texts } from "../../texts/confirmations.ts";
import {
	Badge,
	Button,
	type Column,
	Dialog,
	Empty,
	ErrorLine,
	ErrorState,
	Marked,
	RelativeTime,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";
import { type Grant, revokeGrant, useGrants } from "./wire.ts";
import { SCOPES, useWho } from "./words.ts";

export function Grants() {
	const { data, error, refetch, isPending } = useGrants();
	const [revoking, setRevoking] = useState<Grant | null>(null);
	const now = useNow();
	const whoOf = useWho();
	if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
	if (isPending) return <SkeletonRows />;
	if (!data || data.length === 0)
		return (
			<Empty icon={<KeyRound size={24} />} title={texts.grants.noGrants}>
				{texts.grants.whenYouApproveSomethingFor}
			</Empty>
		);
	const columns: readonly Column<Grant>[] = [
		{
			name: texts.grants.action,
			cell: (grant) => (
				<div className="py-1.5">
					<span className="block font-mono text-sm font-medium wrap-anywhere">{grant.action}</span>
					<span className="text-sm text-ink-2">
						{grant.asked_by === null ? texts.grants.anyone : whoOf(grant.asked_by)}, {SCOPES[grant.scope]}
						{grant.pattern !== null && <Marked text={texts.grants.ifTheArgumentsMatch(grant.pattern)} />}
					</span>
				</div>
			),
		},
		{
			name: texts.grants.conversation,
			wideOnly: true,
			cell: ({ session_key }) => (
				<code className="font-mono text-xs wrap-anywhere">{session_key ?? "any"}</code>
			),
		},
		{ name: texts.grants.grantedBy, wideOnly: true, cell: ({ by }) => whoOf(by) },
		{
			name: texts.grants.since,
			wideOnly: true,
			cell: ({ created_at }) => <RelativeTime at={created_at * 1000} className="text-ink-2" />,
		},
		{
			name: texts.grants.state,
			align: "right",
			cell: (grant) =>
				holds(grant, now) ? (
					<Button size="sm" look="danger" onClick={() => setRevoking(grant)}>
						{texts.grants.revoke}
					</Button>
				) : (
					<Badge>{grant.revoked_at === null ? texts.grants.expired : "revoked"}</Badge>
				),
		},
	];
	return (
		<>
			<Table label={texts.grants.grants} columns={columns} rows={data} rowKey={({ id }) => id} />
			<RevokeDialog grant={revoking} onClose={() => setRevoking(null)} />
		</>
	);
}

function holds({ revoked_at, until }: Grant, now: number): boolean {
	return revoked_at === null && (until === null || until * 1000 > now);
}

function RevokeDialog({ grant, onClose }: { readonly grant: Grant | null; readonly onClose: () => void }) {
	const revoking = useMutation({
		mutationFn: (id: string) => revokeGrant(id),
		onSuccess: onClose,
		onSettled: () => queryClient.invalidateQueries({ queryKey: ["grants"] }),
	});
	return (
		<Dialog
			open={grant !== null}
			onOpenChange={(open) => {
				if (open) return;
				revoking.reset();
				onClose();
			}}
			title={texts.grants.revokeThisGrant}
			actions={
				<>
					<Button onClick={onClose}>{texts.grants.keepIt}</Button>
					<Button
						look="danger"
						disabled={revoking.isPending}
						onClick={() => grant && revoking.mutate(grant.id)}
					>
						{texts.grants.revoke}
					</Button>
				</>
			}
		>
			<p className="text-ink-2">
				<Marked text={texts.grants.needsApprovalAgainFromNow(grant?.action ?? "")} />
			</p>
			{revoking.isError && <ErrorLine error={revoking.error} />}
		</Dialog>
	);
}
