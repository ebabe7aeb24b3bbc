import { Malformed, textOf } from "./octets";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_LENGTH = 30;
const CENTRAL_LENGTH = 46;
const END_LENGTH = 22;
const VERSION = 10;
const UTF8 = 0x0800;
/** 1980-02-01 00:00 in DOS form. */
const DATE = 0x41;
const NAME = /^[A-Za-z0-9._=+-]+(\/[A-Za-z0-9._=+-]+)*$/;
const NAME_MAX = 240;

const TABLE = new Uint32Array(256).map((_, octet) => {
  let value = octet;
  for (let bit = 0; bit < 8; bit++) {
    value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  }
  return value;
});

function crc32(octets: Uint8Array): number {
  let crc = -1;
  for (let at = 0; at < octets.length; at++) {
    crc = TABLE[(crc ^ octets[at]!) & 255]! ^ (crc >>> 8);
  }
  return (crc ^ -1) >>> 0;
}

interface Entry {
  name: string;
  at: number;
  size: number;
  crc: number;
}

/**
 * The files in a bundle's ZIP (schemas/bundle.md, "The ZIP"): the one form that a set of files has is made again
 * and compared, octet by octet. A ZIP of more than 4 GiB cannot be read here.
 *
 * @throws Malformed that says where the first difference is
 */
export function unpack(zip: Uint8Array): Map<string, Uint8Array> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const files = new Map<string, Uint8Array>();
  const entries: Entry[] = [];
  let at = 0;
  const short = (place: number): number => (place + 2 <= zip.length ? view.getUint16(place, true) : -1);
  const word = (place: number): number => (place + 4 <= zip.length ? view.getUint32(place, true) : -1);
  const expect = (place: number, length: 2 | 4, value: number, where: string): void => {
    if ((length === 2 ? short(place) : word(place)) !== value) {
      throw new Malformed(`octet ${place}, ${where}, is not what it must be`);
    }
  };
  const expectName = (place: number, name: string, where: string): void => {
    for (let i = 0; i < name.length; i++) {
      if (zip[place + i] !== name.charCodeAt(i)) {
        throw new Malformed(`octet ${place + i}, ${where}, is not what it must be`);
      }
    }
  };
  while (word(at) === LOCAL) {
    const length = short(at + 26);
    const size = word(at + 18);
    const begin = at + LOCAL_LENGTH + length;
    if (length < 1 || length > NAME_MAX || size < 0 || begin + size > zip.length) {
      throw new Malformed(`octet ${at}: the header of a file does not hold`);
    }
    let name = "";
    try {
      name = textOf(zip.subarray(at + LOCAL_LENGTH, begin));
    } catch {
      // it is none that a bundle has
    }
    if (!NAME.test(name) || name.split("/").some((part) => part === "." || part === "..")) {
      throw new Malformed(`octet ${at + LOCAL_LENGTH}: a file has a name that a bundle does not have`);
    }
    for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1)) {
      if (files.has(name.slice(0, slash))) {
        throw new Malformed(`octet ${at + LOCAL_LENGTH}: ${name.slice(0, slash)} is a file and a folder`);
      }
    }
    const before = entries[entries.length - 1];
    if (before && before.name >= name) {
      throw new Malformed(`octet ${at + LOCAL_LENGTH}: ${name} is not in its place`);
    }
    const where = `in the header of ${name}`;
    expect(at + 4, 2, VERSION, where);
    expect(at + 6, 2, UTF8, where);
    expect(at + 8, 2, 0, where);
    expect(at + 10, 2, 0, where);
    expect(at + 12, 2, DATE, where);
    expect(at + 22, 4, size, where);
    expect(at + 28, 2, 0, where);
    const octets = zip.subarray(begin, begin + size);
    const crc = crc32(octets);
    if (word(at + 14) !== crc) {
      throw new Malformed(`${name} was changed: octets ${begin} to ${begin + size - 1} have another checksum`);
    }
    files.set(name, octets);
    entries.push({ name, at, size, crc });
    at = begin + size;
  }
  const directory = at;
  for (const entry of entries) {
    const where = `in the directory's entry of ${entry.name}`;
    expect(at, 4, CENTRAL, where);
    expect(at + 4, 2, VERSION, where);
    expect(at + 6, 2, VERSION, where);
    expect(at + 8, 2, UTF8, where);
    expect(at + 10, 2, 0, where);
    expect(at + 12, 2, 0, where);
    expect(at + 14, 2, DATE, where);
    expect(at + 16, 4, entry.crc, where);
    expect(at + 20, 4, entry.size, where);
    expect(at + 24, 4, entry.size, where);
    expect(at + 28, 2, entry.name.length, where);
    for (let place = at + 30; place < at + 42; place += 2) {
      expect(place, 2, 0, where);
    }
    expect(at + 42, 4, entry.at, where);
    expectName(at + CENTRAL_LENGTH, entry.name, where);
    at += CENTRAL_LENGTH + entry.name.length;
  }
  const where = "at the end of the ZIP";
  expect(at, 4, END, where);
  expect(at + 4, 4, 0, where);
  expect(at + 8, 2, entries.length, where);
  expect(at + 10, 2, entries.length, where);
  expect(at + 12, 4, at - directory, where);
  expect(at + 16, 4, directory, where);
  expect(at + 20, 2, 0, where);
  if (at + END_LENGTH !== zip.length) {
    throw new Malformed(`octet ${at + END_LENGTH}: something follows the end of the ZIP`);
  }
  return files;
}
