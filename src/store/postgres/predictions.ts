// Predicts answers. An INSERT of one row answers 1 or fails. For other statements, a long run of equal answers (one row changed, or none
// found) predicts the next. A prediction is always compared with the real answer before the commit.
import type { Query } from "../query.ts";

/** After this many equal answers in a row, the next is predicted. */
const TRUSTED = 16;

interface Record {
	readonly answer: "nothing" | number;
	times: number;
}

export class Predictions {
	readonly #known: (Record | undefined)[] = [];
	/** How many predictions were wrong. */
	mistakes = 0;

	/** Whether the statement changes rows. */
	static writes({ statement }: Query): boolean {
		return shapeOf(statement).writes;
	}

	/** Undefined: it must be awaited. */
	answerTo({ statement, mode }: Query): { readonly value: unknown } | undefined {
		if (mode === "run" && shapeOf(statement).oneRow) return { value: 1 };
		const known = this.#known[statement.index];
		if (!known || known.times < TRUSTED) return undefined;
		if (known.answer === "nothing") return { value: mode === "all" ? [] : undefined };
		return { value: known.answer };
	}

	learn(query: Query, real: unknown): void {
		const answer = simplified(query, real);
		const { index } = query.statement;
		const known = this.#known[index];
		if (known && (known.times < 0 || known.answer === answer)) known.times++;
		else this.#known[index] = answer === undefined ? undefined : { answer, times: 1 };
	}

	/** False: it was wrong, and is not predicted again soon. */
	compare(query: Query, predicted: unknown, real: unknown): boolean {
		const isRight = simplified(query, predicted) === simplified(query, real);
		if (isRight) return true;
		this.mistakes++;
		this.#known[query.statement.index] = { answer: "nothing", times: -OFTEN };
		return false;
	}
}

/** How many more answers it takes after a mistake. */
const OFTEN = 1000;

/** Only answers without content can be predicted: a number of changed rows, or none found. */
function simplified({ mode }: Query, answer: unknown): "nothing" | number | undefined {
	if (mode === "run") return answer as number;
	if (mode === "get") return answer === undefined ? "nothing" : undefined;
	return (answer as readonly unknown[]).length === 0 ? "nothing" : undefined;
}

interface Shape {
	readonly writes: boolean;
	/** Changes exactly one row, or fails. */
	readonly oneRow: boolean;
}

const shapes: (Shape | undefined)[] = [];

function shapeOf({ index, sql, postgres }: Query["statement"]): Shape {
	let shape = shapes[index];
	if (!shape) {
		const text = postgres ?? sql;
		shape = {
			writes: !/^\s*(?:SELECT|WITH)\b/i.test(text) || /\b(?:INSERT INTO|UPDATE|DELETE FROM)\b/i.test(text),
			oneRow: /^\s*INSERT INTO \w+ \([^)]*\)\s*VALUES\s*\([^)]*\)\s*$/i.test(text),
		};
		shapes[index] = shape;
	}
	return shape;
}
