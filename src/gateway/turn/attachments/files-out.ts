// Files that the agent sends with its answer. They are in the rows of its turn, so that a resumed turn still knows them; their deliveries
// follow the text, in one commit with the end (I7).
import type { Message } from "../../../domain/index.ts";
import type { NewDelivery } from "../../../store/index.ts";
import { fileDeliveries } from "../../outbox/files.ts";
import type { Outlet } from "../../outbox/outlet.ts";
import type { TurnStart } from "../start.ts";

export function filesOf(
	{ turn, destination }: TurnStart,
	rows: readonly Message[],
	outlet: Outlet,
): NewDelivery[] {
	const parts = rows
		.filter((row) => row.turn === turn && !row.hidden)
		.flatMap(({ content }) => (typeof content === "string" ? [] : content));
	return fileDeliveries(parts, (n) => ({ id: `${turn}:file${n}`, kind: "reply", destination }), outlet);
}
