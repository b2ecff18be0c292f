import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./pull-lines.spec.js'));
