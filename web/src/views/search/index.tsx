// Search over all messages. The query is in the address, so that it can be kept, shared and returned to.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useShortcut } from "../../app/shortcuts.ts";
import { texts } from "../../texts/search.ts";
import { Button, Empty, ErrorLine, ErrorState, Input, Marked, Page, Skeleton } from "../../ui/index.ts";
import { Filters } from "./filters.tsx";
import { SearchHit } from "./hit.tsx";
import { type Asked, useSearchPages } from "./search-pages.ts";
import { useHitKeys } from "./use-hit-keys.ts";

/** Waits for a pause in typing before it searches. */
const TYPING_MS = 180;

export function SearchView() {
	const asked = useSearch({ from: "/search" });
	const navigate = useNavigate({ from: "/search" });
	const field = useRef<HTMLInputElement>(null);
	const list = useRef<HTMLOListElement>(null);
	const change = (next: Partial<Asked>) =>
		void navigate({ search: withoutBlanks({ ...asked, ...next }), replace: true });
	useShortcut("/", texts.view.search, () => field.current?.select());
	useHitKeys(list, field);
	return (
		<Page title={texts.view.search} about={texts.view.allMessagesAndSessionTitles}>
			<search className="sticky top-0 z-10 border-b bg-ground px-4 py-3 lg:px-6">
				<div className="mx-auto flex max-w-220 flex-col gap-2">
					<QueryField ref={field} value={asked.q ?? ""} onChange={(q) => change({ q })} />
					<Filters asked={asked} onChange={change} />
				</div>
			</search>
			{(asked.q ?? "").trim() === "" ? <HowToSearch /> : <Results asked={asked} list={list} />}
		</Page>
	);
}

function QueryField({
	ref,
	value,
	onChange,
}: {
	readonly ref: React.RefObject<HTMLInputElement | null>;
	readonly value: string;
	readonly onChange: (value: string) => void;
}) {
	const [typed, setTyped] = useState(value);
	const applied = useRef(value);
	// The person went back or followed a link: the address wins.
	useEffect(() => {
		if (value !== applied.current) setTyped(value);
		applied.current = value;
	}, [value]);
	useEffect(() => {
		if (typed === applied.current) return;
		const timer = setTimeout(() => {
			applied.current = typed;
			onChange(typed);
		}, TYPING_MS);
		return () => clearTimeout(timer);
	});
	useEffect(() => ref.current?.focus(), [ref]);
	return (
		<Input
			ref={ref}
			type="search"
			aria-label={texts.view.searchFor}
			placeholder={texts.view.wordsAPhraseOrThe}
			icon={<Search size={15} />}
			value={typed}
			maxLength={1000}
			autoComplete="off"
			spellCheck={false}
			onChange={(event) => setTyped(event.target.value)}
		/>
	);
}

function Results({
	asked,
	list,
}: {
	readonly asked: Asked;
	readonly list: React.RefObject<HTMLOListElement | null>;
}) {
	const { data, error, isFetching, isFetchingNextPage, hasNextPage, fetchNextPage, refetch } =
		useSearchPages(asked);
	if (!data) return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <LoadingHits />;
	const hits = data.pages.flatMap((page) => page.hits);
	const last = data.pages.at(-1);
	const total = last?.total ?? { count: 0, more: false };
	if (hits.length === 0 && !hasNextPage)
		return (
			<Empty icon={<Search size={24} />} title={texts.view.noResults}>
				{texts.view.allWordsMustBeIn}
			</Empty>
		);
	return (
		<div aria-busy={isFetching} className="mx-auto w-full max-w-232 px-4 py-3 lg:px-6">
			<div className="mb-1 flex h-6 items-center gap-3 text-xs text-ink-3">
				<p role="status">{foundInWords(total)}</p>
				<p className="ml-auto max-md:hidden">
					<Marked text={texts.view.jKMoveEnterOpens} />
				</p>
			</div>
			<ol ref={list} className="-mx-3 flex flex-col">
				{hits.map((hit) => (
					<li
						className="border-b border-line/70"
						key={`${hit.session}:${hit.kind === "title" ? "title" : (hit.id ?? "")}`}
					>
						<SearchHit hit={hit} />
					</li>
				))}
			</ol>
			{error && <ErrorLine error={error} />}
			{hasNextPage && (
				<Button className="mt-3 w-full" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
					{isFetchingNextPage ? texts.view.searching : texts.view.showMore}
				</Button>
			)}
		</div>
	);
}

function HowToSearch() {
	return (
		<Empty icon={<Search size={24} />} title={texts.view.searchAllMessages}>
			<Marked text={texts.view.aResultContainsAllThe} />
		</Empty>
	);
}

function LoadingHits() {
	return (
		<div
			role="status"
			aria-label={texts.view.searching2}
			className="mx-auto w-full max-w-232 px-4 py-3 lg:px-6"
		>
			<div className="mb-1 h-6" />
			{["one", "two", "three", "four", "five"].map((row) => (
				<div key={row} className="flex flex-col gap-2 border-b px-3 py-3">
					<Skeleton className="h-4 w-2/5" />
					<Skeleton className="h-4 w-11/12" />
					<Skeleton className="h-3 w-3/5" />
				</div>
			))}
		</div>
	);
}

function foundInWords({ count, more }: { readonly count: number; readonly more: boolean }): string {
	const number = new Intl.NumberFormat().format(count);
	if (more) return texts.view.atLeastResultsBestOf(number);
	return count === 1 ? texts.view.n1Result : texts.view.resultsBestFirst(number);
}

function withoutBlanks(asked: Asked): Asked {
	return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined && value !== ""));
}
