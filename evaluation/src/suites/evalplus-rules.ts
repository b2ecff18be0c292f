/**
 * What EvalPlus knows of its problems (evalplus/data/mbpp.py and evalplus/eval/_special_oracle.py, Apache-2.0) which its files do not
 * carry. JSON has no tuples: a shape says what each list of an argument was, from outside in. `T` is a tuple, `L` a
 * list, `S` a set, `D` a dictionary; the last shape holds for all arguments that follow, `=` changes nothing.
 */
export const mbppShapes: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  (
    [
      [
        ['T'],
        [
          2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630,
          726, 740, 744, 809,
        ],
      ],
      [['LT'], [63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780]],
      [
        ['LT', '='],
        [75, 413, 444, 753],
      ],
      [
        ['=', 'T'],
        [106, 750],
      ],
      [['LS'], [115]],
      [['float', 'complex'], [124]],
      [
        ['T', '='],
        [250, 307, 405, 446, 617, 720, 763, 808],
      ],
      [['complex'], [252]],
      [['TT'], [259, 278, 401, 445]],
      [['DT', '='], [722]],
      [['deep'], [580, 615, 791]],
    ] as const
  ).flatMap(([shapes, numbers]) => numbers.map((number) => [number, shapes])),
);

/** Lists whose order is free. */
export const sameSets = [
  'similar_elements',
  'find_char_long',
  'common_in_nested_lists',
  'extract_singly',
  'larg_nnum',
  'intersection_array',
  'find_dissimilar',
  'Diff',
];

/** Matches of regular expressions, of which only whether there is one counts. */
export const notNone = ['check_str', 'text_match_three', 'text_starta_endb'];
