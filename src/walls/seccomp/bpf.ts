// A classic BPF program as bytes: instructions with labels, put into the kernel's form.

export type Instruction =
	| { readonly kind: "label"; readonly name: string }
	| { readonly kind: "plain"; readonly code: number; readonly value: number }
	| {
			readonly kind: "jump";
			readonly code: number;
			readonly value: number;
			/** Names of labels; by default the next instruction. */
			readonly yes?: string;
			readonly no?: string;
	  };

interface Targets {
	readonly yes?: string;
	readonly no?: string;
}

const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_SET = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;
/** struct sock_filter: a code, two jumps, a value. */
const SIZE = 8;
/** A jump is one byte. */
const FARTHEST = 255;

export function load(offset: number): Instruction {
	return { kind: "plain", code: LOAD_WORD, value: offset };
}

export function mask(bits: number): Instruction {
	return { kind: "plain", code: AND, value: bits };
}

export function jumpIfEqual(value: number, targets: Targets): Instruction {
	return { kind: "jump", code: JUMP_EQUAL, value, ...targets };
}

export function jumpIfSet(bits: number, targets: Targets): Instruction {
	return { kind: "jump", code: JUMP_SET, value: bits, ...targets };
}

export function label(name: string): Instruction {
	return { kind: "label", name };
}

export function allow(): Instruction {
	return { kind: "plain", code: RETURN, value: ALLOW };
}

export function refuse(errno: number): Instruction {
	return { kind: "plain", code: RETURN, value: ERRNO | errno };
}

export function assemble(program: readonly Instruction[]): Buffer {
	const labels = new Map<string, number>();
	let length = 0;
	for (const instruction of program) {
		if (instruction.kind === "label") labels.set(instruction.name, length);
		else length++;
	}
	const bytes = Buffer.alloc(length * SIZE);
	let at = 0;
	for (const instruction of program) {
		if (instruction.kind === "label") continue;
		bytes.writeUInt16LE(instruction.code, at * SIZE);
		if (instruction.kind === "jump") {
			bytes.writeUInt8(distance(instruction.yes, at, labels), at * SIZE + 2);
			bytes.writeUInt8(distance(instruction.no, at, labels), at * SIZE + 3);
		}
		bytes.writeUInt32LE(instruction.value, at * SIZE + 4);
		at++;
	}
	return bytes;
}

/** A wrong one would let forbidden calls through, so it is never guessed. */
function distance(name: string | undefined, from: number, labels: ReadonlyMap<string, number>): number {
	if (name === undefined) return 0;
	const label = labels.get(name);
	if (label === undefined) throw new Error(`there is no label ${name} in the program`);
	const steps = label - from - 1;
	if (steps < 0 || steps > FARTHEST) throw new Error(`${name} is too far away: ${steps} instructions`);
	return steps;
}
