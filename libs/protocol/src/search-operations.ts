import type { Operation } from './operation.js';
import { excerpt } from './json-bounds.js';
import type { ModelTool } from './projections/model-tool.js';

/** More operations than this are offered by search, because every listed one is in every prompt. */
export const mostListed = 20;

/** Whether the installed ones among these operations are offered by search. */
export const isSearched = (operations: readonly Pick<Operation, 'search'>[]): boolean =>
  operations.filter(({ search }) => search === 'found').length > mostListed;

const mostFound = 5;
const longestDescription = 1_000;
const longestParameters = 8_000;

type Searched = Pick<Operation, 'name' | 'title' | 'description'>;

/** The output of `actions.search`: the best matches, in the form in which a model is offered them. */
export function searchOperations<T extends Searched>(
  query: string,
  operations: readonly T[],
  toolOf: (operation: T) => ModelTool,
) {
  const actions = bestMatches(query, operations).map((operation) => {
    const { name, description, parameters } = toolOf(operation);
    const isShort = JSON.stringify(parameters).length <= longestParameters;
    return {
      name,
      operation: operation.name,
      description: excerpt(description, longestDescription),
      parameters: isShort ? parameters : {},
    };
  });
  return { actions, searched: operations.length };
}

/** Operations that share words with the query: rare words count more, and those of the name most, then of the title. */
function bestMatches<T extends Searched>(query: string, operations: readonly T[]): T[] {
  const wanted = [...new Set(wordsOf(query))].slice(0, 50);
  const texts = operations.map(({ name, title, description }) => [
    { weight: 4, words: wordsOf(name) },
    { weight: 3, words: wordsOf(title) },
    { weight: 1, words: wordsOf(description) },
  ]);
  const scores = texts.map(() => 0);
  for (const word of wanted) {
    const likeness = texts.map((fields) =>
      Math.max(...fields.map(({ weight, words }) => weight * likest(word, words))),
    );
    const known = likeness.filter((like) => like > 0).length;
    const rarity = Math.log(1 + operations.length / Math.max(1, known));
    for (const [index, like] of likeness.entries())
      scores[index] = (scores[index] ?? 0) + like * rarity;
  }
  return operations
    .map((operation, index) => ({ operation, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, mostFound)
    .map(({ operation }) => operation);
}

/** From 0 to 1: for the same word, or one with the same beginning, such as `translate` and `translation`. */
const likest = (word: string, words: readonly string[]): number =>
  Math.max(0, ...words.map((other) => (other === word ? 1 : isAkin(word, other) ? 0.6 : 0)));

function isAkin(a: string, b: string): boolean {
  const common = Math.max(4, Math.min(a.length, b.length) - 3);
  return a.slice(0, common) === b.slice(0, common) && Math.min(a.length, b.length) >= common;
}

const wordsOf = (text: string): string[] =>
  (
    text
      .slice(0, 4_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,40}/gu) ?? []
  ).filter((word) => !common.has(word));

const common = new Set(
  'an and are as at be by can do for from get has in is it its me my of on or some that the this to use using want what which with'.split(
    ' ',
  ),
);
