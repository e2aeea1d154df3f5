// The configuration's keys as a tree, read off the zod schema. The file, the environment, `config show` and the
// reference's test all walk this tree, so that a key added to the schema is known to each of them.
import { z } from "zod";

export type Key =
	| { readonly kind: "section"; readonly keys: ReadonlyMap<string, Key> }
	/**
	 * A map with user-chosen names, from `names` if given. `refusal` is the rule a name breaks. `comes`: a new entry takes effect at
	 * once, with all its keys, and a removed one stays until a restart.
	 */
	| {
			readonly kind: "map";
			readonly comes?: true;
			readonly names: readonly string[] | undefined;
			readonly refusal: (name: string) => string | undefined;
			readonly value: Key;
	  }
	/** `expects` completes the sentence "must be ...". `restart`: read once, at the start. `choices`: the words that it may be. */
	| {
			readonly kind: "value";
			readonly type: ValueType;
			readonly expects: string;
			readonly choices?: readonly string[];
			readonly restart?: true;
	  };

export type ValueType = "number" | "boolean" | "list" | "text";

/** A schema marked with `.meta({ restart: true })` is a key, or a section of keys, that is read once; `{ comes: true }` marks a map. */
export function keyTree(schema: z.core.$ZodType, inherited = false, comes = false): Key {
	const marks = z.globalRegistry.get(schema);
	const restart = inherited || marks?.restart === true;
	const isComing = comes || marks?.comes === true;
	if (schema instanceof z.ZodObject) {
		const shape = Object.entries<z.core.$ZodType>(schema.shape);
		return { kind: "section", keys: new Map(shape.map(([name, value]) => [name, keyTree(value, restart)])) };
	}
	if (schema instanceof z.ZodRecord) {
		const names = schema.keyType;
		return {
			kind: "map",
			...(isComing && { comes: true }),
			names: names instanceof z.ZodEnum ? names.options.map(String) : undefined,
			refusal: (name) => {
				// zod silently drops this name from every record.
				if (name === "__proto__") return "must be another name";
				return z.safeParse(names, name).error?.issues[0]?.message;
			},
			value: keyTree(schema.valueType, restart),
		};
	}
	const inner = innerSchema(schema);
	if (inner) return keyTree(inner, restart, isComing);
	return { kind: "value", ...describeValue(schema), ...(restart && { restart: true }) };
}

/** Every value's key, dotted, in the schema's order; a name the user chooses is written `<name>`. */
export function listKeys(key: Key, path = ""): string[] {
	const below = (name: string) => (path === "" ? name : `${path}.${name}`);
	switch (key.kind) {
		case "value":
			return [path];
		case "map":
			return listKeys(key.value, below("<name>"));
		case "section":
			return [...key.keys].flatMap(([name, child]) => listKeys(child, below(name)));
	}
}

function innerSchema(schema: z.core.$ZodType): z.core.$ZodType | undefined {
	if (
		schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault ||
		schema instanceof z.ZodNullable ||
		schema instanceof z.ZodReadonly
	)
		return schema.unwrap();
	// The file has the input type, except where a transform comes first and takes anything.
	if (schema instanceof z.ZodPipe) return schema.in instanceof z.ZodTransform ? schema.out : schema.in;
	return undefined;
}

function describeValue(schema: z.core.$ZodType): {
	type: ValueType;
	expects: string;
	choices?: readonly string[];
} {
	if (schema instanceof z.ZodNumber) return { type: "number", expects: describeNumber(schema) };
	if (schema instanceof z.ZodBoolean) return { type: "boolean", expects: "true or false" };
	if (schema instanceof z.ZodArray) return { type: "list", expects: "a list" };
	if (schema instanceof z.ZodEnum) {
		const choices = schema.options.map(String);
		return { type: "text", expects: `one of ${choices.join(", ")}`, choices };
	}
	return { type: "text", expects: "text" };
}

function describeNumber(schema: z.ZodNumber): string {
	const { minValue, maxValue } = schema;
	const least = minValue === null || minValue <= Number.MIN_SAFE_INTEGER ? undefined : minValue;
	const most = maxValue === null || maxValue >= Number.MAX_SAFE_INTEGER ? undefined : maxValue;
	const what = schema.isInt ? "a whole number" : "a number";
	if (least !== undefined && most !== undefined) return `${what} from ${least} to ${most}`;
	if (least !== undefined) return `${what} of at least ${least}`;
	if (most !== undefined) return `${what} of at most ${most}`;
	return what;
}
