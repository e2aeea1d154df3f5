import { texts } from "../../texts/insights.ts";
import { type Column, Table } from "../../ui/index.ts";
import type { InsightsData } from "./data.ts";
import { inMoney, inShort, inWhole } from "./words.ts";

interface Row {
	readonly key: string;
	readonly name: string;
	readonly spent: Pick<InsightsData["people"][number], "calls" | "tokens" | "costs" | "unpriced_calls">;
}

/** Model costs, by the person who was answered and by profile. */
export function Spenders({ data: { people, profiles } }: { readonly data: InsightsData }) {
	if (people.length === 0) return null;
	return (
		<div className="mt-8 grid grid-cols-1 gap-x-8 gap-y-6 @4xl:grid-cols-2">
			<Spending
				title={texts.spenders.costByPerson}
				of={texts.spenders.person}
				rows={people.map(({ principal, name, ...spent }) => ({
					key: principal ?? "",
					name: name ?? principal ?? texts.spenders.unknownPerson,
					spent,
				}))}
			/>
			<Spending
				title={texts.spenders.costByProfile}
				of={texts.spenders.profile}
				rows={profiles.map(({ profile, ...spent }) => ({
					key: profile,
					name: profile === "" ? texts.spenders.mainProfile : profile,
					spent,
				}))}
			/>
		</div>
	);
}

function Spending({
	title,
	of,
	rows,
}: {
	readonly title: string;
	readonly of: string;
	readonly rows: readonly Row[];
}) {
	return (
		<section aria-label={title} className="min-w-0">
			<h2 className="mb-2 font-semibold">{title}</h2>
			<div className="overflow-x-auto rounded-md border">
				<Table label={title} columns={columns(of)} rows={rows} rowKey={({ key }) => key} />
			</div>
		</section>
	);
}

function columns(of: string): readonly Column<Row>[] {
	return [
		{ name: of, cell: ({ name }) => <span className="block max-w-48 truncate py-1.5">{name}</span> },
		{ name: texts.spenders.calls, align: "right", wideOnly: true, cell: ({ spent }) => inWhole(spent.calls) },
		{ name: texts.spenders.input, align: "right", cell: ({ spent }) => inShort(spent.tokens.input) },
		{
			name: texts.spenders.fromCache,
			align: "right",
			cell: ({ spent }) => inShort(spent.tokens.cached_input),
		},
		{ name: texts.spenders.output, align: "right", cell: ({ spent }) => inShort(spent.tokens.output) },
		{ name: texts.spenders.cost, align: "right", cell: ({ spent }) => moneyOf(spent) },
	];
}

function moneyOf({ costs, unpriced_calls }: Row["spent"]): string {
	const sums = costs.map(({ micros, currency }) => inMoney(micros, currency)).join(" + ");
	if (sums === "") return unpriced_calls > 0 ? texts.spenders.noKnownPrice : "none";
	return unpriced_calls > 0 ? texts.spenders.atLeast(sums) : sums;
}
