// Routes. The conversations are loaded at the start, other views on demand.

import {
	createRootRoute,
	createRoute,
	createRouter,
	type ErrorComponentProps,
	Link,
	lazyRouteComponent,
} from "@tanstack/react-router";
import { texts } from "../texts/app.ts";
import { Empty, ErrorState, SkeletonRows } from "../ui/index.ts";
import { ConversationsView, ConversationView, NoConversationView } from "../views/conversations/index.tsx";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const conversations = createRoute({
	getParentRoute: () => root,
	id: "conversations",
	component: ConversationsView,
});
const noConversation = createRoute({
	getParentRoute: () => conversations,
	path: "/",
	component: NoConversationView,
});
const conversation = createRoute({
	getParentRoute: () => conversations,
	path: "/c/$conversation",
	validateSearch: textFields("m", "profile"),
	component: ConversationView,
});

const confirmations = createRoute({
	getParentRoute: () => root,
	path: "/confirmations",
	validateSearch: textFields("id", "tab"),
	component: lazyRouteComponent(() => import("../views/confirmations/index.tsx"), "ConfirmationsView"),
});
const processes = createRoute({
	getParentRoute: () => root,
	path: "/processes",
	validateSearch: textFields("tab", "conversation"),
	component: lazyRouteComponent(() => import("../views/processes/index.tsx"), "ProcessesView"),
});
const process = createRoute({
	getParentRoute: () => root,
	path: "/processes/$id",
	component: lazyRouteComponent(() => import("../views/process/index.tsx"), "ProcessView"),
});
const schedules = createRoute({
	getParentRoute: () => root,
	path: "/schedules",
	validateSearch: textFields("id"),
	component: lazyRouteComponent(() => import("../views/schedules/index.tsx"), "SchedulesView"),
});
const checkpoints = createRoute({
	getParentRoute: () => root,
	path: "/checkpoints",
	validateSearch: textFields("conversation", "id", "with", "file"),
	component: lazyRouteComponent(() => import("../views/checkpoints/index.tsx"), "CheckpointsView"),
});
const insights = createRoute({
	getParentRoute: () => root,
	path: "/insights",
	validateSearch: textFields("period", "platform"),
	component: lazyRouteComponent(() => import("../views/insights/index.tsx"), "InsightsView"),
});
const channels = createRoute({
	getParentRoute: () => root,
	path: "/channels",
	component: lazyRouteComponent(() => import("../views/channels/index.tsx"), "ChannelsView"),
});
const settings = createRoute({
	getParentRoute: () => root,
	path: "/settings",
	validateSearch: textFields("tab", "q"),
	component: lazyRouteComponent(() => import("../views/settings/index.tsx"), "SettingsView"),
});
const search = createRoute({
	getParentRoute: () => root,
	path: "/search",
	validateSearch: textFields("q", "platform", "role", "from", "to", "conversation"),
	component: lazyRouteComponent(() => import("../views/search/index.tsx"), "SearchView"),
});
const why = createRoute({
	getParentRoute: () => root,
	path: "/why/$inbound",
	component: lazyRouteComponent(() => import("../views/why/index.tsx"), "WhyView"),
});

export const router = createRouter({
	routeTree: root.addChildren([
		conversations.addChildren([noConversation, conversation]),
		confirmations,
		processes,
		process,
		schedules,
		checkpoints,
		insights,
		channels,
		settings,
		search,
		why,
	]),
	defaultPendingComponent: () => <SkeletonRows />,
	defaultErrorComponent: Failed,
	defaultPreload: "intent",
	// All parameters are strings: the router would read `007` as a number, and write "7" in quotes.
	parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
	stringifySearch: (given) => {
		const query = new URLSearchParams(
			Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
		);
		return query.size === 0 ? "" : `?${query}`;
	},
});

declare module "@tanstack/react-router" {
	interface Register {
		router: typeof router;
	}
}

/** The query parameters that a route accepts, all strings. */
function textFields<Name extends string>(...names: readonly Name[]) {
	return (given: Readonly<Record<string, unknown>>): { [Key in Name]?: string } =>
		Object.fromEntries(
			names.filter((name) => given[name] !== undefined).map((name) => [name, String(given[name])]),
		) as { [Key in Name]?: string };
}

function NotFound() {
	return (
		<Empty
			title={texts.router.pageNotFound}
			action={
				<Link to="/" className="text-accent underline">
					{texts.router.goToConversations}
				</Link>
			}
		>
			{texts.router.noPageHasThisAddress}
		</Empty>
	);
}

function Failed({ error, reset }: ErrorComponentProps) {
	return <ErrorState error={error} title={texts.router.couldNotBeShown} onRetry={reset} />;
}
