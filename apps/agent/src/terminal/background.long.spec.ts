import { describeBackground } from './testing/describe-background.js';

describeBackground('sh');
