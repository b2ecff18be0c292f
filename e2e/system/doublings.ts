/** Tasks of the suite human-eval, to double a number, as the lines of a data file. */
export const doublings = (names: string[]): string =>
  names
    .map((name) => ({
      task_id: `Own/${name}`,
      prompt: 'def double(n):\n    """Twice n."""\n',
      entry_point: 'double',
      canonical_solution: '    return 2 * n\n',
      test: 'def check(candidate):\n    assert candidate(4) == 8\n',
    }))
    .map((task) => `${JSON.stringify(task)}\n`)
    .join('');
