/** An output with what the model is told besides it. */
export function withNote(output: unknown, note: string | undefined): unknown {
  if (note === undefined) return output;
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) {
    return { ...output, note };
  }
  return { output, note };
}
