// The list's filter: all, waiting for the person, archived or deleted; by platform and by profile.

import { SlidersHorizontal, X } from "lucide-react";
import { useMemo, useRef } from "react";
import type { Conversation } from "../../../api/types.ts";
import { texts } from "../../../texts/conversations.ts";
import { IconButton, Menu, MenuChoice, MenuSeparator, platformName } from "../../../ui/index.ts";
import { profileName, useProfiles } from "../profiles.ts";
import type { ListFilter } from "./data.ts";

const LISTS = [
	{ value: "open", name: texts.listFilter.all },
	{ value: "waiting", name: texts.listFilter.waitingForMe },
	{ value: "archived", name: texts.listFilter.archived },
	{ value: "deleted", name: texts.listFilter.deleted },
] as const;
type Shown = (typeof LISTS)[number]["value"];

const ANY = "*";

export function FilterMenu({
	filter,
	all,
	onChange,
}: {
	readonly filter: ListFilter;
	readonly all: readonly Conversation[];
	readonly onChange: (filter: ListFilter) => void;
}) {
	const platforms = useSeen(all.map(({ platform }) => platform));
	const known = useProfiles();
	const profiles = useSeen([...known.map(({ name }) => name), ...all.map(({ profile }) => profile)]);
	const change = (name: keyof ListFilter, value: string, none: string) => {
		const { [name]: _, ...others } = filter;
		onChange(value === none ? others : { ...others, [name]: value });
	};
	return (
		<Menu
			label={texts.listFilter.show}
			trigger={
				<IconButton label={texts.listFilter.whichConversationsToShow} look="plain">
					<SlidersHorizontal size={15} />
				</IconButton>
			}
		>
			<MenuChoice<Shown>
				value={(filter.list ?? "open") as Shown}
				choices={LISTS}
				onChange={(list) => change("list", list, "open")}
			/>
			{platforms.length > 1 && (
				<>
					<MenuSeparator />
					<MenuChoice
						value={filter.platform ?? ANY}
						choices={[
							{ value: ANY, name: texts.listFilter.allPlatforms },
							...platforms.map((value) => ({ value, name: platformName(value) })),
						]}
						onChange={(platform) => change("platform", platform, ANY)}
					/>
				</>
			)}
			{profiles.length > 1 && (
				<>
					<MenuSeparator />
					<MenuChoice
						value={filter.profile ?? ANY}
						choices={[
							{ value: ANY, name: texts.listFilter.allProfiles },
							...profiles.map((value) => ({ value, name: profileName(value) })),
						]}
						onChange={(profile) => change("profile", profile, ANY)}
					/>
				</>
			)}
		</Menu>
	);
}

/** Says that the list is filtered, and offers to show everything again. */
export function FilterLine({
	filter,
	onClear,
}: {
	readonly filter: ListFilter;
	readonly onClear: () => void;
}) {
	const parts = [
		...LISTS.filter(({ value }) => value !== "open" && value === filter.list).map(({ name }) => name),
		...(filter.platform === undefined ? [] : [platformName(filter.platform)]),
		...(filter.profile === undefined ? [] : [profileName(filter.profile)]),
	];
	if (parts.length === 0) return null;
	return (
		<p className="flex shrink-0 items-center gap-2 border-b bg-panel px-4 py-1 text-sm text-ink-2">
			<span className="min-w-0 flex-1 truncate">{texts.listFilter.showingOnly(parts.join(", "))}</span>
			<IconButton label={texts.listFilter.showAll} size="sm" onClick={onClear}>
				<X size={14} />
			</IconButton>
		</p>
	);
}

/** All values seen so far: a filter must not remove its own choices. */
function useSeen(values: readonly string[]): readonly string[] {
	const known = useRef(new Set<string>());
	const key = [...new Set(values)].sort().join("\n");
	return useMemo(() => {
		if (key !== "" || values.length > 0) for (const value of key.split("\n")) known.current.add(value);
		return [...known.current].sort();
	}, [key, values.length]);
}
