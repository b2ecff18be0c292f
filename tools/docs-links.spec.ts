import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './product-node.mjs';

/** The pages of the documentation, by path from the root. */
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((page) => page && !page.includes('/project/') && existsSync(join(root, page)));

const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string) => text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** The links of a page inside the repository: the target file and the anchor. */
function linksOf(page: string): { page: string; file: string; anchor?: string }[] {
  const text = withoutCode(textOf(page));
  const targets = [
    ...text.matchAll(/\]\(<?([^)\s>]+)>?\)/g),
    ...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g),
  ];
  return targets
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path ? relative(root, join(root, dirname(page), path)) : page;
      return { page, file, anchor };
    });
}

/** The anchors of a page’s headings. */
const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+\s+(.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

describe('the pages of the documentation', () => {
  const links = pages.flatMap(linksOf);

  it('link to existing files and headings', () => {
    const broken = links.filter(
      ({ file, anchor }) =>
        !existsSync(join(root, file)) ||
        (anchor && file.endsWith('.md') && !anchorsOf(file).includes(anchor)),
    );
    expect(links.length).toBeGreaterThan(50);
    expect(broken).toEqual([]);
  });

  it('are all listed in the README or in the index of the decisions', () => {
    const indexes = ['README.md', 'docs/decisions/README.md'];
    const listed = new Set(indexes.flatMap(linksOf).map(({ file }) => file));
    const docs = pages.filter((page) => page.startsWith('docs/'));
    expect(docs.length).toBeGreaterThan(10);
    expect(docs.filter((page) => !listed.has(page))).toEqual([]);
  });
});
