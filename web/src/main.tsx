// Must be first: takes the login key out of the address before anything else reads it.
import { texts } from "./texts/app.ts";
import "./api/page-key.ts";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient, useLoggedIn } from "./api/index.ts";
import { LoggedOut } from "./app/logged-out.tsx";
import { keepForOffline } from "./app/offline.ts";
import { router } from "./app/router.tsx";
import { listenForShortcuts } from "./app/shortcuts.ts";
import { followPartials, followTurns, refreshByEvents, startLive } from "./live/index.ts";
import "./style.css";
import { TooltipProvider } from "./ui/index.ts";
import { followConversationList, followOutgoing, followTranscripts } from "./views/conversations/index.tsx";

listenForShortcuts();
refreshByEvents(queryClient);
followPartials();
followTurns();
followTranscripts();
followOutgoing();
followConversationList(queryClient);
keepForOffline();
await startLive();

const root = document.getElementById("root");
if (!root) throw new Error(texts.main.thePageHasNoRoot);
createRoot(root).render(
	<StrictMode>
		<QueryClientProvider client={queryClient}>
			<TooltipProvider delayDuration={400}>
				<App />
			</TooltipProvider>
		</QueryClientProvider>
	</StrictMode>,
);

void import("./app/notify.ts").then(({ followForNotifications }) => followForNotifications());

function App() {
	return useLoggedIn() ? <RouterProvider router={router} /> : <LoggedOut />;
}
