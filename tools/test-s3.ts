import { runCommand } from './prepare/machine.mjs';
import { Instruction } from './prepare/steps.mjs';

// npm run test:s3: runs the tests of the storage in a bucket, with a real server and Jest’s options after it. Not a part
// of npm test, because no machine has one by itself.
const needed = [
  'BELAY_STORAGE',
  'AWS_ENDPOINT_URL_S3',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
];
const missing = needed.filter((name) => !process.env[name]);
if (missing.length > 0) {
  await runCommand(async () => {
    throw new Instruction(
      `Set ${missing.join(', ')}: an address of S3 over http, such as http://127.0.0.1:7070, a key for it, and s3://BUCKET with an existing bucket, in which a folder is made for the tests and deleted.`,
    );
  });
} else {
  process.argv.splice(2, 0, '--selectProjects', 's3');
  await import('./test.mjs');
}
