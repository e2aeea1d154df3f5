import { BellRing } from "lucide-react";
import { texts } from "../texts/app.ts";
import { Button } from "../ui/index.ts";
import { chooseNotifications, useNotifyChoice } from "./notify.ts";

/** Asks once, when there is something to notify about. */
export function NotifyQuestion() {
	if (useNotifyChoice() !== "unasked") return null;
	return (
		<p className="flex shrink-0 flex-wrap items-center gap-2 border-t bg-panel px-4 py-2 text-sm text-ink-2">
			<BellRing size={15} aria-hidden className="shrink-0" />
			<span className="min-w-32 flex-1">{texts.notifyQuestion.showNotificationsWhileYouAre}</span>
			<span className="flex shrink-0 gap-1">
				<Button size="sm" onClick={() => void chooseNotifications(true)}>
					{texts.notifyQuestion.yes}
				</Button>
				<Button size="sm" look="quiet" onClick={() => void chooseNotifications(false)}>
					{texts.notifyQuestion.no}
				</Button>
			</span>
		</p>
	);
}
