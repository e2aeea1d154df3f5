import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { texts } from "../../texts/confirmations.ts";
import { Page, Tabs } from "../../ui/index.ts";
import { Audit } from "./audit.tsx";
import { Decided } from "./decided.tsx";
import { Grants } from "./grants.tsx";
import { OneDialog } from "./one-dialog.tsx";
import { Waiting } from "./waiting.tsx";
import { useConfirmation } from "./wire.ts";

type TabName = "waiting" | "decided" | "grants" | "audit";
const NAMES: readonly TabName[] = ["waiting", "decided", "grants", "audit"];

export function ConfirmationsView() {
	const { id, tab } = useSearch({ from: "/confirmations" });
	const navigate = useNavigate({ from: "/confirmations" });
	const value = NAMES.find((name) => name === tab) ?? "waiting";
	const { data: named, error } = useConfirmation(id);
	const [inQueue, setInQueue] = useState<string>();
	if (named?.status === "pending" && inQueue !== named.id) setInQueue(named.id);
	const open = (next: string | undefined) =>
		void navigate({
			search: { ...(value !== "waiting" && { tab: value }), ...(next !== undefined && { id: next }) },
		});
	// A waiting question is answered in the queue, and stays there. Only questions settled earlier open in a dialog.
	const isElsewhere = value !== "waiting" || (inQueue !== id && (named !== undefined || error !== null));
	return (
		<Page title={texts.view.confirmations} about={texts.view.actionsThatNeedYourApproval}>
			<Tabs
				label={texts.view.confirmations}
				value={value}
				onChange={(next) => void navigate({ search: next === "waiting" ? {} : { tab: next } })}
				tabs={[
					{ name: "waiting", label: texts.view.waiting, content: <Waiting wanted={id} /> },
					{ name: "decided", label: texts.view.decided, content: <Decided onOpen={open} /> },
					{ name: "grants", label: texts.view.grants, content: <Grants /> },
					{ name: "audit", label: texts.view.audit, content: <Audit onOpen={open} /> },
				]}
			/>
			<OneDialog id={isElsewhere ? id : undefined} onClose={() => open(undefined)} />
		</Page>
	);
}
