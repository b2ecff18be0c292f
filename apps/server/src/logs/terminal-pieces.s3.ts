import { alwaysOnEveryDatabase } from '../testing/databases.js';
import { TestBucket } from '../storage/testing/test-bucket.js';
import { terminalPieceCases } from './testing/terminal-piece-cases.js';

alwaysOnEveryDatabase('pieces of terminals in a bucket', (databases) => {
  let bucket: TestBucket;
  beforeAll(() => void (bucket = new TestBucket()));
  afterAll(() => bucket.close());

  terminalPieceCases(() => bucket.open(), databases);
});
