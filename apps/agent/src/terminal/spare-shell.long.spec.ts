import { describeSpareShell } from './testing/describe-spare-shell.js';

describeSpareShell('sh');
