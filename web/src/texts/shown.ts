/** A value as it is put into a sentence. */
export type Shown = string | number;
