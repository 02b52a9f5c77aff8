// SPDX-License-Identifier: Apache-2.0
// The size of an element, and whether the page is being printed.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";

interface Size {
  width: number;
  height: number;
}

/** Of an element, followed as it changes. */
export function useSize(element: { current: HTMLElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 800, height: 400 });
  useLayoutEffect(() => {
    const read = () => {
      const { clientWidth: width, clientHeight: height } = element.current!;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    const observer = new ResizeObserver(read);
    observer.observe(element.current!);
    read();
    return () => observer.disconnect();
  }, []);
  return size;
}

export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const media = matchMedia("print");
    const update = () => setPrinting(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return printing;
}
