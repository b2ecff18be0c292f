/** The last part of a model’s name, where there is little space. */
export const shortModelName = (model: string): string => model.split(/[:/]/).at(-1) ?? model;
