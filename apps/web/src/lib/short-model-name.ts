/** The last part of a model’s name, for places with little space. */
export const shortModelName = (model: string): string => model.split(/[:/]/).at(-1) ?? model;
