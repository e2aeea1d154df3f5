import { texts } from "../texts/app.ts";
import { Command } from "../ui/index.ts";
import { Mark } from "./mark.tsx";

/** Replaces everything once the server no longer knows this browser. */
export function LoggedOut() {
	return (
		<main className="flex h-full items-center justify-center p-6">
			<div className="flex max-w-96 flex-col gap-3">
				<span className="text-accent">
					<Mark size={32} />
				</span>
				<h1 className="text-xl font-semibold tracking-[-0.015em]">{texts.loggedOut.youAreNotLoggedIn}</h1>
				<p className="text-ink-2">{texts.loggedOut.thisBrowserIsNotLogged}</p>
				<Command text="keryx link" />
				<p className="text-ink-2">{texts.loggedOut.yourConversationsAreSafe}</p>
			</div>
		</main>
	);
}
