/** The labels that a format has for a task; letters that a page cannot show are left out. */
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
