import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { queryClient } from "../../api/index.ts";
import { useNow } from "../../lib/time.ts";
import {
	Badge,
	Button,
	type Column,
	Dialog,
	Empty,
	ErrorLine,
	ErrorState,
	RelativeTime,
	SkeletonRows,
	Table,
} from "../../ui/index.ts";
import { type Grant, revokeGrant, useGrants } from "./wire.ts";
import { SCOPES, whoOf } from "./words.ts";

export function Grants() {
	const { data, error, refetch, isPending } = useGrants();
	const [revoking, setRevoking] = useState<Grant | null>(null);
	const now = useNow();
	if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />;
	if (isPending) return <SkeletonRows />;
	if (!data || data.length === 0)
		return (
			<Empty icon={<KeyRound size={24} />} title="No grants">
				Approve something for a session, a conversation or always, and the standing yes is listed here, to be
				taken back at any time.
			</Empty>
		);
	const columns: readonly Column<Grant>[] = [
		{
			name: "Action",
			cell: (grant) => (
				<div className="py-1.5">
					<span className="block font-mono text-sm font-medium wrap-anywhere">{grant.action}</span>
					<span className="text-sm text-ink-2">
						{grant.asked_by === null ? "whoever asks" : whoOf(grant.asked_by)}, {SCOPES[grant.scope]}
						{grant.pattern !== null && (
							<>
								, where the arguments are like <code className="font-mono text-xs">{grant.pattern}</code>
							</>
						)}
					</span>
				</div>
			),
		},
		{
			name: "Conversation",
			wideOnly: true,
			cell: ({ session_key }) => (
				<code className="font-mono text-xs wrap-anywhere">{session_key ?? "any"}</code>
			),
		},
		{ name: "Given by", wideOnly: true, cell: ({ by }) => whoOf(by) },
		{
			name: "Since",
			wideOnly: true,
			cell: ({ created_at }) => <RelativeTime at={created_at * 1000} className="text-ink-2" />,
		},
		{
			name: "State",
			align: "right",
			cell: (grant) =>
				holds(grant, now) ? (
					<Button size="sm" look="danger" onClick={() => setRevoking(grant)}>
						Revoke
					</Button>
				) : (
					<Badge>{grant.revoked_at === null ? "ran out" : "revoked"}</Badge>
				),
		},
	];
	return (
		<>
			<Table label="Grants" columns={columns} rows={data} rowKey={({ id }) => id} />
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
			title="Revoke this grant?"
			actions={
				<>
					<Button onClick={onClose}>Keep it</Button>
					<Button
						look="danger"
						disabled={revoking.isPending}
						onClick={() => grant && revoking.mutate(grant.id)}
					>
						Revoke
					</Button>
				</>
			}
		>
			<p className="text-ink-2">
				<code className="font-mono text-sm text-ink">{grant?.action}</code> is asked about again from now on.
				What was approved by it before stays approved.
			</p>
			{revoking.isError && <ErrorLine error={revoking.error} />}
		</Dialog>
	);
}
