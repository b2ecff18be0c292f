import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./endings.spec.js'));
