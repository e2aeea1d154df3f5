// How much there is of something, for people.

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** "12 MB" */
export function bytesInWords(bytes: number): string {
	let size = bytes;
	let unit = 0;
	while (size >= 1000 && unit < UNITS.length - 1) {
		size /= 1000;
		unit++;
	}
	return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

/** "1 message", "1,234 messages". */
export function counted(n: number, one: string, many = `${one}s`): string {
	return `${new Intl.NumberFormat("en").format(n)} ${n === 1 ? one : many}`;
}
