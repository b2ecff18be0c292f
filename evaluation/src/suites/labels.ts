/** A task's labels for reports, each of at most 80 characters. */
export const labelsOf = (given: {
  category?: string | undefined;
  difficulty?: string | undefined;
}): Record<string, string> =>
  Object.fromEntries(
    (['category', 'difficulty'] as const).flatMap((label) => {
      const name = given[label]?.trim().slice(0, 80);
      return name ? [[label, name]] : [];
    }),
  );
