/** An output with a note for the model. */
export function withNote(output: unknown, note: string | undefined): unknown {
  if (note === undefined) return output;
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) {
    return { ...output, note };
  }
  return { output, note };
}
