import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./rest-upload.spec.js'));
