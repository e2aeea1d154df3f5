/** A value inserted into a sentence. */
export type Shown = string | number;
